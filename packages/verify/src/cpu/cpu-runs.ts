import koffi from "koffi";
import type { FamilyName, KernelEntry } from "../device.ts";
import { floatFromHalf } from "../half-queries.ts";
import { attend, type CpuAttention } from "./cpu-attention.ts";

/** A function of libeliza_kv. */
export type Native = (...args: readonly unknown[]) => void;

/** A format's functions in the library. */
export interface CpuFormat {
  readonly headDim: number;
  readonly rowBytes: number;
  /** Values of a prepared query. */
  readonly rotatedDim: number;
  /** Packs a float32 sketch as `dot` reads it; undefined where `dot` reads float32. */
  readonly packQuery: Native | undefined;
  readonly encode: Native;
  readonly encodeReference: Native;
  readonly decode: Native;
  readonly decodeRotated: Native;
  readonly prepareQuery: Native;
  readonly dot: Native;
  /** ggml's id of the type. */
  readonly type: number;
  readonly attention: CpuAttention;
}

function floats(bytes: Uint8Array): Float32Array {
  return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
}

function prepared(entry: KernelEntry, format: CpuFormat, queries: Float32Array, index: number) {
  const turns = entry.queries === "original";
  const length = turns ? format.headDim : format.rotatedDim;
  const query = queries.subarray(index * length, (index + 1) * length);
  if (format.packQuery) {
    const packed = new Uint8Array(2 * query.length);
    format.packQuery(query, packed, format.headDim);
    return packed;
  }
  if (!turns) return query;
  const out = new Float32Array(format.rotatedDim);
  format.prepareQuery(query, out, format.headDim);
  return out;
}

/** Where a buffer lies; rows are addressed in it, since handing over a view of the rest would copy it. */
function addressOf(bytes: Uint8Array): bigint {
  return BigInt(koffi.address(bytes));
}

function dot(format: CpuFormat, bytes: bigint, query: Float32Array | Uint8Array): number {
  const out = new Float32Array(1);
  format.dot(format.headDim, out, 0, bytes, 0, query, 0, 1);
  return out[0]!;
}

/** One kernel's work through the library: the formats of its rows, its buffers in binding order, its parameters. */
export type CpuRun = (
  entry: KernelEntry,
  formats: readonly CpuFormat[],
  buffers: readonly Uint8Array[],
  params: Uint32Array,
) => void;

const score: CpuRun = (entry, [format], [rows, queries, scores], params) => {
  const [nHeads, nKvHeads, nKv, , rowStride, headStride] = params as unknown as number[];
  const out = floats(scores!);
  const base = addressOf(rows!);
  for (let head = 0; head < nHeads!; head++) {
    const kvHead = Math.floor(head / (nHeads! / nKvHeads!));
    const query = prepared(entry, format!, floats(queries!), head);
    for (let t = 0; t < nKv!; t++) {
      const row = base + BigInt(t * rowStride! + kvHead * headStride!);
      out[head * nKv! + t] = dot(format!, row, query);
    }
  }
};

const mulMv: CpuRun = (entry, [format], [rows, vector, result], params) => {
  const [nRows, , rowStride] = params as unknown as number[];
  const out = floats(result!);
  const query = prepared(entry, format!, floats(vector!), 0);
  const base = addressOf(rows!);
  for (let row = 0; row < nRows!; row++) out[row] = dot(format!, base + BigInt(row * rowStride!), query);
};

const getRows: CpuRun = (_entry, [format], [rows, ids, result], params) => {
  const [nIds, nCols, rowStride] = params as unknown as number[];
  const out = floats(result!);
  const base = addressOf(rows!);
  const list = new Uint32Array(ids!.buffer, ids!.byteOffset, nIds!);
  for (const [i, id] of list.entries()) {
    const row = out.subarray(i * nCols!, (i + 1) * nCols!);
    format!.decode(base + BigInt(id * rowStride!), row, nCols);
  }
};

/** Bytes come out as float32 values, a value a byte, as every output of the harness is float32. */
const encode: CpuRun = (_entry, [format], [values, bytes], params) => {
  const [nRows, headDim, reference, together] = params as unknown as number[];
  const { rowBytes } = format!;
  const write = reference ? format!.encodeReference : format!.encode;
  const encoded = new Uint8Array(nRows! * rowBytes).fill(0xa5);
  const row = floats(values!);
  if (together) write(row, encoded, nRows! * headDim!);
  for (let i = 0; i < nRows! && !together; i++) {
    const at = encoded.subarray(i * rowBytes, (i + 1) * rowBytes);
    write(row.subarray(i * headDim!, (i + 1) * headDim!), at, headDim);
  }
  floats(bytes!).set(encoded);
};

const decode: CpuRun = (_entry, [format], [bytes, values], params) => {
  const [nRows, headDim, coded] = params as unknown as number[];
  const base = addressOf(bytes!);
  const width = coded ? format!.rotatedDim : headDim!;
  const read = coded ? format!.decodeRotated : format!.decode;
  for (let i = 0; i < nRows!; i++) {
    const out = floats(values!).subarray(i * width, (i + 1) * width);
    read(base + BigInt(i * format!.rowBytes), out, headDim);
  }
};

const prepareQuery: CpuRun = (_entry, [format], [queries, prepared], params) => {
  const [nRows, headDim] = params as unknown as number[];
  const { rotatedDim, packQuery } = format!;
  const out = floats(prepared!);
  for (let i = 0; i < nRows!; i++) {
    const query = floats(queries!).subarray(i * headDim!, (i + 1) * headDim!);
    const row = out.subarray(i * rotatedDim, (i + 1) * rotatedDim);
    if (!packQuery) {
      format!.prepareQuery(query, row, headDim);
      continue;
    }
    const packed = new Uint8Array(4 * rotatedDim);
    format!.prepareQuery(query, packed, headDim);
    row.set(Float32Array.from(new Uint16Array(packed.buffer, 0, rotatedDim), floatFromHalf));
  }
};

const attention: CpuRun = (_entry, formats, buffers, params) => {
  attend(formats[0]!.attention, formats, buffers, params);
};

/** What the library computes, by family. */
export const CPU_RUNS: Readonly<Partial<Record<FamilyName, CpuRun>>> = {
  attention,
  score,
  mul_mv: mulMv,
  get_rows: getRows,
  encode,
  decode,
  prepare_query: prepareQuery,
};

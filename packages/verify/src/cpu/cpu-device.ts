import { cpus } from "node:os";
import koffi from "koffi";
import type {
  Device,
  DeviceBuffer,
  DeviceDescription,
  Kernel,
  KernelConstants,
  KernelEntry,
  RowFormat,
} from "../device.ts";
import { VerifyError } from "../errors.ts";
import { HostBuffer } from "../host-buffer.ts";
import { buildCpuLibrary } from "./build-library.ts";

koffi.struct("eliza_kv_format", {
  name: "str",
  type: "int32_t",
  tile: "int32_t",
  tile_bytes: "int32_t",
  query_type: "int32_t",
  graph_rotation: "bool",
  shiftable: "bool",
  keys_only: "bool",
  encode: "void *",
  encode_reference: "void *",
  decode: "void *",
  decode_rotated: "void *",
  prepare_query: "void *",
  dot: "void *",
});
const decodeType = koffi.proto("void eliza_kv_decode(uint64_t bytes, _Out_ float *row, int64_t n)");
const prepareType = koffi.proto("void eliza_kv_prepare(const float *query, _Out_ float *prepared, int64_t n)");
const dotType = koffi.proto(
  "void eliza_kv_dot(int n, _Out_ float *score, size_t bs, uint64_t bytes, size_t bx, const void *prepared, size_t by, int nrc)",
);

type Native = (...args: readonly unknown[]) => void;

/** A format's functions in the library. */
interface Format {
  /** Packs a float32 sketch as `dot` reads it; undefined where `dot` reads float32. */
  readonly packQuery: Native | undefined;
  readonly decode: Native;
  readonly prepareQuery: Native;
  readonly dot: Native;
}

type Library = ReturnType<typeof koffi.load>;

/** The name under which the library has a format at this head size. */
function libraryName(format: RowFormat): string {
  if (format.name === "qjl1_256" && format.options.projection === "iid") return "qjl1_256_iid";
  const tiled = format.name === "turbo3" || format.name.endsWith("_tcq");
  return tiled && format.tile === 64 ? `${format.name}_64` : format.name;
}

/**
 * The CPU kernels, libeliza_kv. A kernel of the other languages is here a loop over its rows: scores and products
 * through the format's dot, get_rows through its decoder.
 */
export class CpuDevice implements Device {
  readonly description: DeviceDescription;
  readonly schedules = 1;
  readonly #formats = new Map<string, Format>();
  /** Held: a library that is collected is unloaded, and its functions with it. */
  readonly library: Library;

  /**
   * @param isa "scalar", "avx2", … or undefined for the best of this processor
   * @param libraryPath a built libeliza_kv; without one the kernels are compiled here
   * @throws VerifyError DEVICE_UNAVAILABLE, TOOL_MISSING, KERNEL_BUILD
   */
  constructor(isa?: string, libraryPath: string | undefined = process.env.ELIZA_KV_LIBRARY) {
    const library = CpuDevice.#open(libraryPath ?? buildCpuLibrary());
    this.library = library;
    const setIsa = library.func("bool eliza_kv_set_isa(str)");
    if (isa !== undefined && !setIsa(isa)) {
      throw new VerifyError(
        "DEVICE_UNAVAILABLE",
        `this processor or build has no ${isa}`,
        "leave the choice out",
      );
    }
    this.#readFormats(library);
    const path = library.func("str eliza_kv_isa()")() as string;
    this.description = {
      name: "cpu",
      backend: "cpu",
      kind: "hardware",
      model: cpus()[0]?.model.trim() || process.arch,
      driver: `libeliza_kv, ${path}`,
      subgroupWidth: 1,
    };
  }

  static #open(path: string): Library {
    try {
      return koffi.load(path);
    } catch (error) {
      throw new VerifyError(
        "DEVICE_UNAVAILABLE",
        `${path} cannot be opened`,
        "build it: npm run build:native",
        error,
      );
    }
  }

  #readFormats(library: Library): void {
    const list = library.func("const eliza_kv_format *eliza_kv_formats(_Out_ size_t *count)");
    const count = [0];
    const first = list(count);
    const formats = koffi.decode(first, "eliza_kv_format", Number(count[0])) as Record<string, unknown>[];
    const packQuery = library.func(
      "void eliza_kv_qjl1_256_pack_query(float *sketch, _Out_ uint8_t *prepared, int64_t n)",
    );
    for (const format of formats) {
      const name = format.name as string;
      this.#formats.set(name, {
        packQuery: name.startsWith("qjl1_256") ? (packQuery as unknown as Native) : undefined,
        decode: koffi.decode(format.decode, decodeType) as Native,
        prepareQuery: koffi.decode(format.prepare_query, prepareType) as Native,
        dot: koffi.decode(format.dot, dotType) as Native,
      });
    }
  }

  setSchedule(): void {}

  lacks(_entry: KernelEntry, format: RowFormat): string | undefined {
    if (format.options.residual) return "the CPU library has no residual";
    const name = libraryName(format);
    return this.#formats.has(name) ? undefined : `the CPU library has no ${name}`;
  }

  halfQueries(entry: KernelEntry): boolean {
    return entry.id === "qjl_score" || entry.id === "qjl_mul_mv";
  }

  buffer(content: number | ArrayBufferView): DeviceBuffer {
    return new HostBuffer(content);
  }

  async load(entry: KernelEntry, _constants: KernelConstants, format: RowFormat): Promise<Kernel> {
    const native = this.#formats.get(libraryName(format))!;
    const run = entry.id.endsWith("_get_rows") ? getRows : entry.id.endsWith("_mul_mv") ? mulMv : score;
    const rotates = entry.id === "polar_score" || entry.id === "polar_mul_mv";
    return {
      dispatch: async (_groups, buffers, params, repeat = 1) => {
        const bytes = buffers.map((buffer) => (buffer as HostBuffer).bytes);
        const started = performance.now();
        for (let i = 0; i < repeat; i++) run(native, format, rotates, bytes, params);
        return performance.now() - started;
      },
      [Symbol.dispose]: () => {},
    };
  }

  [Symbol.dispose](): void {}
}

function floats(bytes: Uint8Array): Float32Array {
  return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
}

function prepared(native: Format, format: RowFormat, rotates: boolean, queries: Float32Array, index: number) {
  const length = rotates ? format.headDim : format.rotatedDim;
  const query = queries.subarray(index * length, (index + 1) * length);
  if (native.packQuery) {
    const packed = new Uint8Array(2 * query.length);
    native.packQuery(query, packed, format.headDim);
    return packed;
  }
  if (!rotates) return query;
  const out = new Float32Array(format.rotatedDim);
  native.prepareQuery(query, out, format.headDim);
  return out;
}

/** Where a buffer lies; rows are addressed in it, since handing over a view of the rest would copy it. */
function addressOf(bytes: Uint8Array): bigint {
  return BigInt(koffi.address(bytes));
}

function dot(native: Format, format: RowFormat, bytes: bigint, query: Float32Array | Uint8Array): number {
  const out = new Float32Array(1);
  native.dot(format.headDim, out, 0, bytes, 0, query, 0, 1);
  return out[0]!;
}

type Run = (
  native: Format,
  format: RowFormat,
  rotates: boolean,
  bytes: readonly Uint8Array[],
  params: Uint32Array,
) => void;

const score: Run = (native, format, rotates, [rows, queries, scores], params) => {
  const [nHeads, nKvHeads, nKv, , rowStride, headStride] = params as unknown as number[];
  const out = floats(scores!);
  const base = addressOf(rows!);
  for (let head = 0; head < nHeads!; head++) {
    const kvHead = Math.floor(head / (nHeads! / nKvHeads!));
    const query = prepared(native, format, rotates, floats(queries!), head);
    for (let t = 0; t < nKv!; t++) {
      const row = base + BigInt(t * rowStride! + kvHead * headStride!);
      out[head * nKv! + t] = dot(native, format, row, query);
    }
  }
};

const mulMv: Run = (native, format, rotates, [rows, vector, result], params) => {
  const [nRows, , rowStride] = params as unknown as number[];
  const out = floats(result!);
  const query = prepared(native, format, rotates, floats(vector!), 0);
  const base = addressOf(rows!);
  for (let row = 0; row < nRows!; row++)
    out[row] = dot(native, format, base + BigInt(row * rowStride!), query);
};

const getRows: Run = (native, format, _rotates, [rows, ids, result], params) => {
  const [nIds, nCols, rowStride] = params as unknown as number[];
  const out = floats(result!);
  const base = addressOf(rows!);
  const list = new Uint32Array(ids!.buffer, ids!.byteOffset, nIds!);
  for (const [i, id] of list.entries()) {
    const row = out.subarray(i * nCols!, (i + 1) * nCols!);
    native.decode(base + BigInt(id * rowStride!), row, format.headDim);
  }
};

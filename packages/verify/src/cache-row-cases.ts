import { type QjlProjection, qjlProjection } from "@eliza-inference/codecs";
import type { KernelEntry, RowFormat } from "./device.ts";
import { fittingFormat } from "./format-of.ts";
import type { KernelCase, PlannedCase } from "./kernel-case.ts";
import { plainFormat } from "./plain-formats.ts";
import { Random } from "./random.ts";
import { randomCache } from "./rows.ts";
import { trellisCodebooks } from "./trellis-buffers.ts";
import { formatId } from "./variants.ts";

/** Of the largest value of a row: some twenty float32 roundings, or sums of 256 products. */
const TOLERANCE = 1e-6;
/** An f16 differs by its own rounding besides: in the same measure, of the largest value. */
const HALF_ROUNDING = 2 ** -11;
const HEAD_DIMS = [64, 96, 128, 256, 512];
const THREADS = 64;
const FLAG = { ids: 1, halves: 2 } as const;
const STORED = 7;
/** Three rows, one of them twice. */
const IDS = [5, 0, 3, 5];

/** The formats of the kernel, and ggml's own, at every head size above that they take. */
function formatsOf(kernel: KernelEntry): RowFormat[] {
  const coded = kernel.formats.flatMap(({ name, options }) =>
    options.flatMap((choice) => HEAD_DIMS.flatMap((headDim) => fittingFormat(name, headDim, choice) ?? [])),
  );
  const plain = (["f16", "q8_0", "q4_0"] as const).map((name) => plainFormat(name, 96));
  return [...coded, ...plain];
}

function rowCase(format: RowFormat, halves: boolean, byIndex: boolean): KernelCase {
  const { codec, options } = format;
  const { headDim } = codec;
  const stride = codec.rowBytes + 6;
  const encoded = randomCache(codec, STORED, new Random(headDim * 17 + 4));
  const bytes = new Uint8Array(STORED * stride).fill(0xa5);
  for (let row = 0; row < STORED; row++) {
    bytes.set(encoded.subarray(row * codec.rowBytes, (row + 1) * codec.rowBytes), row * stride);
  }
  const wanted = byIndex ? IDS : Array.from({ length: STORED }, (_, row) => row);
  const expected = new Float64Array(wanted.length * headDim);
  const magnitude = new Float64Array(expected.length);
  for (const [i, row] of wanted.entries()) {
    const values = codec.decode(encoded.subarray(row * codec.rowBytes, (row + 1) * codec.rowBytes));
    expected.set(values, i * headDim);
    const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    const allowed = TOLERANCE + (halves ? HALF_ROUNDING : 0);
    magnitude.fill((largest * allowed) / TOLERANCE, i * headDim, (i + 1) * headDim);
  }
  const projection = (options.projection ?? "orthogonal") as QjlProjection;
  return {
    constants: { rows: 1, heads: 1, threads: THREADS },
    groups: [wanted.length, 1, 1],
    params: Uint32Array.of(
      ...[formatId(format), headDim, stride, 0],
      (byIndex ? FLAG.ids : 0) | (halves ? FLAG.halves : 0),
    ),
    inputs: [
      ...[bytes, Uint32Array.from(IDS), undefined, trellisCodebooks()],
      codec.name === "qjl1_256" ? qjlProjection(projection) : new Float32Array(4),
    ],
    ...{ expected, magnitude, ...(halves ? { output: "f16" as const } : {}) },
    tolerance: { relative: TOLERANCE },
  };
}

/** Every format to f32 by index, and to f16 row after row. */
export function cacheRowCases(kernel: KernelEntry): PlannedCase[] {
  return formatsOf(kernel).flatMap((format) =>
    [false, true].map((halves): PlannedCase => {
      const choices = Object.values(format.options).map(String);
      const name = [format.codec.name, ...choices, `d${format.codec.headDim}`].join(" ");
      return {
        ...{ kernel, formats: [format], origin: "generated", files: [] },
        name: `${name} ${halves ? "f16 copies" : "f32 by index"}`,
        long: format.codec.headDim === 512,
        make: () => rowCase(format, halves, !halves),
      };
    }),
  );
}

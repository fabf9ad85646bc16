import type { Encoder, KvFormat } from "@eliza-inference/codecs";
import type { KernelEntry, RowFormat } from "./device.ts";
import { fittingFormat } from "./format-of.ts";
import { goldenRows } from "./golden.ts";
import { halfQuery } from "./half-queries.ts";
import { type KernelCase, type PlannedCase, ROW_TOLERANCE } from "./kernel-case.ts";
import { Random } from "./random.ts";
import { randomRows, type ScaleProfile } from "./rows.ts";

const CONSTANTS = { rows: 1, heads: 1, threads: 1 };
/** Beside those of the golden rows: a head of one tile, and head sizes with an odd number of tiles. */
const HEAD_DIMS = [32, 160, 192, 224, 320];
const SCALES: readonly ScaleProfile[] = ["normal", "tiny", "huge", "zero", "nan"];
const GENERATED_ROWS = 5;

interface Shape {
  readonly name: string;
  readonly origin: "golden" | "generated";
  readonly format: RowFormat;
  readonly files: readonly string[];
}

function planned(kernel: KernelEntry, shape: Shape, make: PlannedCase["make"]): PlannedCase {
  const { name, origin, format, files } = shape;
  return { kernel, formats: [format], name, origin, long: false, files, make };
}

/** Every format of the kernel at every head size above that it takes. */
function generatedFormats(kernel: KernelEntry): RowFormat[] {
  return kernel.formats.flatMap(({ name, options }) =>
    options.flatMap((choice) => HEAD_DIMS.flatMap((headDim) => fittingFormat(name, headDim, choice) ?? [])),
  );
}

function label({ codec, options }: RowFormat): string {
  return [codec.name, ...Object.values(options).map(String), `d${codec.headDim}`].join(" ");
}

function golden(kernel: KernelEntry) {
  return goldenRows(kernel.formats.map(({ name }) => name)).filter(({ format }) =>
    kernel.formats.some(
      ({ name, options }) =>
        name === format.codec.name &&
        options.some((choice) => JSON.stringify(choice) === JSON.stringify(format.options)),
    ),
  );
}

function rowsOf(values: Float32Array, width: number): Float32Array[] {
  return Array.from({ length: values.length / width }, (_, i) => values.subarray(i * width, (i + 1) * width));
}

/** Bytes must be equal: those of the golden files, or of the codec. */
function encodeCase(
  kv: KvFormat,
  values: Float32Array,
  bytes: Uint8Array,
  encoder: Encoder,
  together: boolean,
): KernelCase {
  const reference = encoder === "reference" ? 1 : 0;
  return {
    constants: CONSTANTS,
    groups: [1, 1, 1],
    params: Uint32Array.of(values.length / kv.headDim, kv.headDim, reference, together ? 1 : 0),
    inputs: [values, undefined],
    expected: Float64Array.from(bytes),
    magnitude: new Float64Array(bytes.length).fill(1),
    tolerance: { absolute: 0 },
  };
}

/** Both encoders on the golden rows, row by row and all in one call, and on Gaussian rows of other head sizes. */
export function encodeCases(kernel: KernelEntry): PlannedCase[] {
  const fromFixtures = golden(kernel).flatMap(({ format, label: name, files, encoder, read }) =>
    [false, true].map((together) =>
      planned(
        kernel,
        { name: `golden ${name}${together ? " together" : ""}`, origin: "golden", format, files },
        () => {
          const { values, rows } = read();
          return encodeCase(format.codec, values, rows, encoder, together);
        },
      ),
    ),
  );
  const generated = generatedFormats(kernel).flatMap((format) =>
    (["default", "reference"] as const).map((encoder) =>
      planned(
        kernel,
        { name: `${label(format)} ${encoder} gaussian`, origin: "generated", format, files: [] },
        () => {
          const { codec } = format;
          const values = new Random(codec.headDim * 7 + 1).floats(GENERATED_ROWS * codec.headDim);
          const encoded = rowsOf(values, codec.headDim).map((row) => codec.encode(row, { encoder }));
          return encodeCase(
            codec,
            values,
            Uint8Array.from(encoded.flatMap((row) => [...row])),
            encoder,
            true,
          );
        },
      ),
    ),
  );
  return [...fromFixtures, ...generated];
}

/** What each value of a row is measured against: the largest finite one of the row. */
function largest(values: Float64Array, width: number): Float64Array {
  const out = new Float64Array(values.length);
  for (let at = 0; at < values.length; at += width) {
    const sizes = values.subarray(at, at + width).map(Math.abs);
    out.fill(
      sizes.filter(Number.isFinite).reduce((most, size) => Math.max(most, size), 0),
      at,
      at + width,
    );
  }
  return out;
}

function valuesCase(
  rows: ArrayBufferView,
  params: readonly number[],
  expected: readonly Float32Array[],
): KernelCase {
  const width = expected[0]!.length;
  const flat = new Float64Array(expected.length * width);
  for (const [i, values] of expected.entries()) flat.set(values, i * width);
  return {
    constants: CONSTANTS,
    groups: [1, 1, 1],
    params: Uint32Array.from(params),
    inputs: [rows, undefined],
    expected: flat,
    magnitude: largest(flat, width),
    tolerance: { relative: ROW_TOLERANCE },
  };
}

function decodeCase(kv: KvFormat, bytes: Uint8Array, coded: boolean): KernelCase {
  const count = bytes.length / kv.rowBytes;
  const rows = Array.from({ length: count }, (_, i) =>
    bytes.subarray(i * kv.rowBytes, (i + 1) * kv.rowBytes),
  );
  const decoded = rows.map(coded ? kv.decodeRotated : kv.decode);
  return valuesCase(bytes, [count, kv.headDim, coded ? 1 : 0], decoded);
}

/** Into both bases: the golden bytes of both encoders, and random bytes of all head sizes and scales. */
export function decodeCases(kernel: KernelEntry): PlannedCase[] {
  const bases = [false, true];
  const basis = (coded: boolean): string => (coded ? "coded" : "original");
  const fromFixtures = golden(kernel).flatMap(({ format, label: name, files, read }) =>
    bases.map((coded) =>
      planned(kernel, { name: `golden ${name} ${basis(coded)}`, origin: "golden", format, files }, () =>
        decodeCase(format.codec, read().rows, coded),
      ),
    ),
  );
  const generated = generatedFormats(kernel).flatMap((format) =>
    bases.flatMap((coded) =>
      SCALES.map((scales) =>
        planned(
          kernel,
          { name: `${label(format)} ${basis(coded)} ${scales}`, origin: "generated", format, files: [] },
          () => {
            const random = new Random(format.codec.headDim * 11 + 2);
            return decodeCase(format.codec, randomRows(format.codec, GENERATED_ROWS, random, scales), coded);
          },
        ),
      ),
    ),
  );
  return [...fromFixtures, ...generated];
}

function queryCase(kv: KvFormat, queries: Float32Array, halfQueries: boolean): KernelCase {
  const rows = rowsOf(queries, kv.headDim);
  const prepared = rows.map((query) => halfQuery(kv.prepareQuery(query), halfQueries));
  return valuesCase(queries, [rows.length, kv.headDim], prepared);
}

/** The golden queries and rows, and Gaussian queries of other head sizes. */
export function queryCases(kernel: KernelEntry): PlannedCase[] {
  const fromFixtures = golden(kernel)
    .filter(({ encoder }) => encoder === "default")
    .map(({ format, label: name, files, read }) =>
      planned(kernel, { name: `golden ${name}`, origin: "golden", format, files }, (halfQueries = false) => {
        const { queries } = read();
        const flat = Float32Array.from(queries.flatMap((query) => [...query]));
        return queryCase(format.codec, flat, halfQueries);
      }),
    );
  const generated = generatedFormats(kernel).map((format) =>
    planned(
      kernel,
      { name: `${label(format)} gaussian`, origin: "generated", format, files: [] },
      (halfQueries = false) => {
        const { headDim } = format.codec;
        return queryCase(
          format.codec,
          new Random(headDim * 13 + 3).floats(GENERATED_ROWS * headDim),
          halfQueries,
        );
      },
    ),
  );
  return [...fromFixtures, ...generated];
}

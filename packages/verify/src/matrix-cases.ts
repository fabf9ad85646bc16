import { type KvFormat, qjlProjection } from "@eliza-inference/codecs";
import type { KernelEntry, RowFormat } from "./device.ts";
import { formatOf } from "./format-of.ts";
import { goldenRows } from "./golden.ts";
import { halfQuery } from "./half-queries.ts";
import { type KernelCase, type PlannedCase, SCORE_TOLERANCE } from "./kernel-case.ts";
import { Random } from "./random.ts";
import { randomRows, repeated, type ScaleProfile } from "./rows.ts";
import { seedCases } from "./seed-cases.ts";
import { teamSize } from "./variants.ts";

interface MatrixShape {
  readonly nRows: number;
  readonly nCols: number;
  readonly rows: number;
  readonly gap: number;
  readonly scales: ScaleProfile;
  readonly long?: boolean;
}

const TILE = 128;
const SIGNS = 256;

/** H128 of a tile in float64. */
function hadamard(values: Float64Array): void {
  for (let step = 1; step < TILE; step *= 2) {
    for (let i = 0; i < TILE; i++) {
      if (i & step) continue;
      const a = values[i]!;
      const b = values[i + step]!;
      values[i] = a + b;
      values[i + step] = a - b;
    }
  }
}

/** A decoded tile in the original basis, in float64, and the sum of the sizes of what each value adds up. */
function originalTile(kv: KvFormat, decoded: Float32Array, projection: Float32Array | undefined) {
  const value = new Float64Array(TILE);
  const size = new Float64Array(TILE);
  if (!projection) {
    value.set(decoded);
    hadamard(value);
    size.fill(decoded.reduce((sum, x) => sum + Math.abs(x), 0));
    return { value, size };
  }
  if (decoded.length !== SIGNS) throw new RangeError(`${kv.name} tiles have ${decoded.length} coded values`);
  for (let i = 0; i < TILE; i++) {
    for (let j = 0; j < SIGNS; j++) {
      const product = projection[i * SIGNS + j]! * decoded[j]!;
      value[i]! += product;
      size[i]! += Math.abs(product);
    }
  }
  return { value, size };
}

function withGaps(rows: Uint8Array, count: number, rowBytes: number, gap: number): Uint8Array {
  const memory = new Uint8Array(count * (rowBytes + gap)).fill(0xa5);
  for (let row = 0; row < count; row++) {
    memory.set(rows.subarray(row * rowBytes, (row + 1) * rowBytes), row * (rowBytes + gap));
  }
  return memory;
}

/** What a case works on: a matrix of rows, one vector, the ids of some rows. */
interface Matrix {
  readonly format: RowFormat;
  readonly encoded: Uint8Array;
  readonly vector: Float32Array;
  readonly ids: Uint32Array;
}

/** Rows that differ, at most; a prime, so that rows whose numbers differ by a power of two differ. */
const MOST_DIFFERENT_ROWS = 4099;
/** Ids of a case at most; all rows are among them where there are fewer. */
const MOST_IDS = 260;

function randomMatrix(format: RowFormat, shape: MatrixShape): Matrix {
  const random = new Random(shape.nRows * 31 + shape.nCols);
  const { nRows } = shape;
  const rows = randomRows(format.codec, Math.min(nRows, MOST_DIFFERENT_ROWS), random, shape.scales);
  const encoded = repeated(rows, nRows * format.codec.rowBytes);
  const vector = random.floats(shape.nCols);
  const ids = Uint32Array.from({ length: Math.min(nRows + 3, MOST_IDS) }, () => random.below(nRows));
  ids[0] = nRows - 1;
  return { format, encoded, vector, ids };
}

function mulMvCase(
  kernel: KernelEntry,
  shape: MatrixShape,
  { format, encoded, vector }: Matrix,
  halfQueries = false,
): KernelCase {
  const { codec: kv, options } = format;
  const { nRows, nCols, rows, gap } = shape;
  const prepared = halfQuery(kv.prepareQuery(vector), halfQueries);
  const expected = new Float64Array(nRows);
  const magnitude = new Float64Array(nRows);
  for (let row = 0; row < nRows; row++) {
    if (row >= MOST_DIFFERENT_ROWS) {
      expected[row] = expected[row - MOST_DIFFERENT_ROWS]!;
      magnitude[row] = magnitude[row - MOST_DIFFERENT_ROWS]!;
      continue;
    }
    const decoded = kv.decodeRotated(encoded.subarray(row * kv.rowBytes, (row + 1) * kv.rowBytes));
    for (let i = 0; i < decoded.length; i++) {
      const product = decoded[i]! * prepared[i]!;
      expected[row]! += product;
      magnitude[row]! += Math.abs(product);
    }
  }
  return {
    constants: { rows, heads: 1, threads: teamSize(rows) * rows },
    groups: [Math.ceil(nRows / rows), 1, 1],
    params: Uint32Array.of(nRows, nCols, kv.rowBytes + gap, options.residual ? 1 : 0),
    inputs: [
      withGaps(encoded, nRows, kv.rowBytes, gap),
      kernel.queries === "original" ? vector : prepared,
      undefined,
    ],
    expected,
    magnitude,
    tolerance: { relative: SCORE_TOLERANCE },
  };
}

function getRowsCase(kernel: KernelEntry, shape: MatrixShape, { format, encoded, ids }: Matrix): KernelCase {
  const { codec: kv, options } = format;
  const { nRows, nCols, gap } = shape;
  const nIds = ids.length;
  const projection = kernel.buffers.includes("projection")
    ? qjlProjection(options.projection ?? "orthogonal")
    : undefined;
  const expected = new Float64Array(nIds * nCols);
  const magnitude = new Float64Array(nIds * nCols);
  for (const [i, id] of ids.entries()) {
    const decoded = kv.decodeRotated(encoded.subarray(id * kv.rowBytes, (id + 1) * kv.rowBytes));
    for (const tile of kv.tiles) {
      const coded = decoded.subarray(tile.rotatedDim, tile.rotatedDim + tile.rotatedWidth);
      const { value, size } = originalTile(kv, coded, projection);
      expected.set(value, i * nCols + tile.dim);
      magnitude.set(size, i * nCols + tile.dim);
    }
  }
  return {
    constants: { rows: 1, heads: 1, threads: TILE },
    groups: [nIds, nCols / TILE, 1],
    params: Uint32Array.of(nIds, nCols, kv.rowBytes + gap, options.residual ? 1 : 0),
    inputs: [withGaps(encoded, nRows, kv.rowBytes, gap), ids, undefined, ...(projection ? [projection] : [])],
    expected,
    magnitude,
    tolerance: { relative: SCORE_TOLERANCE },
  };
}

const SHAPES: readonly MatrixShape[] = [
  { nRows: 67, nCols: 128, rows: 32, gap: 0, scales: "normal" },
  { nRows: 200, nCols: 384, rows: 128, gap: 0, scales: "normal" },
  { nRows: 33, nCols: 256, rows: 8, gap: 6, scales: "normal" },
  { nRows: 31, nCols: 512, rows: 4, gap: 0, scales: "normal" },
  { nRows: 5, nCols: 1024, rows: 2, gap: 2, scales: "normal" },
  { nRows: 7, nCols: 128, rows: 1, gap: 0, scales: "normal" },
  { nRows: 1, nCols: 128, rows: 32, gap: 0, scales: "normal" },
  { nRows: 40, nCols: 128, rows: 32, gap: 0, scales: "tiny" },
  { nRows: 40, nCols: 128, rows: 32, gap: 0, scales: "huge" },
  { nRows: 40, nCols: 128, rows: 32, gap: 0, scales: "zero" },
  { nRows: 40, nCols: 128, rows: 32, gap: 0, scales: "nan" },
  { nRows: 4096, nCols: 128, rows: 32, gap: 0, scales: "normal", long: true },
  { nRows: 65_536 + 67, nCols: 128, rows: 128, gap: 0, scales: "normal", long: true },
];

/** All cases of a mul_mv or get_rows kernel: elizaOS', golden rows, then generated ones. */
export function matrixCases(kernel: KernelEntry): PlannedCase[] {
  const make = kernel.family === "get_rows" ? getRowsCase : mulMvCase;
  const fromFixtures = goldenRows(kernel.formats.map(({ name }) => name)).map((golden): PlannedCase => {
    const { format, count, label, files } = golden;
    return {
      ...{ kernel, formats: [format], name: `golden ${label}`, origin: "golden", long: false, files },
      make: (halfQueries) => {
        const { rows: encoded, queries } = golden.read();
        const shape = {
          ...{ nRows: count, nCols: format.codec.headDim, rows: 8, gap: 0 },
          scales: "normal",
        } as const;
        const ids = Uint32Array.from({ length: count }, (_, i) => count - 1 - i);
        return make(kernel, shape, { format, encoded, vector: queries[0]!, ids }, halfQueries);
      },
    };
  });
  const choices = kernel.formats.flatMap(({ name, options }) => options.map((choice) => ({ name, choice })));
  const generated = choices.flatMap(({ name, choice }) =>
    SHAPES.map((shape): PlannedCase => {
      const option = Object.values(choice).join(" ");
      const format = { codec: formatOf(name, shape.nCols, choice), options: choice };
      return {
        ...{ kernel, formats: [format], origin: "generated", long: shape.long ?? false, files: [] },
        name:
          `${name}${option && ` ${option}`} ${shape.nRows}x${shape.nCols} rows ${shape.rows} ` +
          `gap ${shape.gap} ${shape.scales}`,
        make: (halfQueries) => make(kernel, shape, randomMatrix(format, shape), halfQueries),
      };
    }),
  );
  return [...seedCases(kernel), ...fromFixtures, ...generated];
}

import type { KvFormat } from "@eliza-inference/codecs";
import type { KernelEntry, RowFormat } from "./device.ts";
import { fittingFormat } from "./format-of.ts";
import { type GoldenRows, goldenRows } from "./golden.ts";
import { halfQuery } from "./half-queries.ts";
import { type KernelCase, type PlannedCase, SCORE_TOLERANCE } from "./kernel-case.ts";
import { Random } from "./random.ts";
import { randomRows, repeated, type ScaleProfile } from "./rows.ts";
import { seedCases } from "./seed-cases.ts";
import { trellisCodebooks, trellisUnits } from "./trellis-buffers.ts";
import { HEADS, teamSize } from "./variants.ts";

/** The shape of one dispatch. */
export interface ScoreShape {
  readonly nKv: number;
  readonly nKvHeads: number;
  /** Query heads of a KV head. */
  readonly gqa: number;
  readonly rows: number;
  /** Query heads a group; rounded to an instance that exists. */
  readonly heads: number;
  /** "token": a position's heads lie together. "head": a head's positions lie together, with a gap between. */
  readonly layout: "token" | "head";
  /** Positions after which the rows come again; all differ by default. */
  readonly period?: number;
}

const DEFAULT_SHAPE: ScoreShape = { nKv: 67, nKvHeads: 2, gqa: 2, rows: 32, heads: 2, layout: "token" };
const GAP_BYTES = 6;

function strides(kv: KvFormat, shape: ScoreShape): { row: number; head: number; bytes: number } {
  const { rowBytes } = kv;
  if (shape.layout === "token") {
    const row = rowBytes * shape.nKvHeads;
    return { row, head: rowBytes, bytes: row * shape.nKv };
  }
  const row = rowBytes + GAP_BYTES;
  return { row, head: row * shape.nKv, bytes: row * shape.nKv * shape.nKvHeads };
}

/**
 * A score case: rows of one format against queries.
 * @param encoded nKv · nKvHeads rows, those of a position together
 * @param queries nKvHeads · gqa of them, in the original basis
 */
export function scoreCase(
  kernel: KernelEntry,
  { codec: kv, options }: RowFormat,
  shape: ScoreShape,
  encoded: Uint8Array,
  queries: readonly Float32Array[],
  halfQueries = false,
): KernelCase {
  const { nKv, nKvHeads, gqa, rows } = shape;
  const nHeads = nKvHeads * gqa;
  const stride = strides(kv, shape);
  const memory = new Uint8Array(stride.bytes).fill(0xa5);
  const prepared = queries.map((query) => halfQuery(kv.prepareQuery(query), halfQueries));
  const expected = new Float64Array(nHeads * nKv);
  const magnitude = new Float64Array(nHeads * nKv);
  const { period = nKv } = shape;
  for (let t = 0; t < nKv; t++) {
    for (let kvHead = 0; kvHead < nKvHeads; kvHead++) {
      const from = (t * nKvHeads + kvHead) * kv.rowBytes;
      const row = encoded.subarray(from, from + kv.rowBytes);
      memory.set(row, t * stride.row + kvHead * stride.head);
      const before = t - period;
      if (before >= 0) {
        for (let head = kvHead * gqa; head < (kvHead + 1) * gqa; head++) {
          expected[head * nKv + t] = expected[head * nKv + before]!;
          magnitude[head * nKv + t] = magnitude[head * nKv + before]!;
        }
        continue;
      }
      const decoded = kv.decodeRotated(row);
      for (let g = 0; g < gqa; g++) {
        const query = prepared[kvHead * gqa + g]!;
        let sum = 0;
        let size = 0;
        for (let i = 0; i < decoded.length; i++) {
          const product = query[i]! * decoded[i]!;
          sum += product;
          size += Math.abs(product);
        }
        expected[(kvHead * gqa + g) * nKv + t] = sum;
        magnitude[(kvHead * gqa + g) * nKv + t] = size;
      }
    }
  }
  const given = kernel.queries === "original" ? queries : prepared;
  const flat = new Float32Array(given.length * given[0]!.length);
  for (const [i, query] of given.entries()) flat.set(query, i * query.length);

  const heads = HEADS.findLast((count) => count <= shape.heads) ?? 1;
  const extra = kernel.buffers.includes("codebooks") ? [trellisCodebooks(), trellisUnits(kv)] : [];
  return {
    constants: { rows, heads, threads: teamSize(rows) * rows },
    groups: [Math.ceil(nKv / rows), nKvHeads, Math.ceil(gqa / heads)],
    params: Uint32Array.of(
      nHeads,
      nKvHeads,
      nKv,
      kv.headDim,
      stride.row,
      stride.head,
      options.residual ? 1 : 0,
    ),
    inputs: [memory, flat, undefined, ...extra],
    expected,
    magnitude,
    tolerance: { relative: SCORE_TOLERANCE },
  };
}

function generated(
  kernel: KernelEntry,
  format: RowFormat,
  change: Partial<ScoreShape>,
  scales: ScaleProfile = "normal",
  long = false,
): PlannedCase {
  const shape = { ...DEFAULT_SHAPE, ...change };
  const { codec } = format;
  const options = Object.values(format.options).join(" ");
  const name =
    `${codec.name}${options && ` ${options}`} d${codec.headDim} n_kv ${shape.nKv} ` +
    `gqa ${shape.gqa}x${shape.nKvHeads} rows ${shape.rows} heads ${shape.heads} ${shape.layout} ${scales}`;
  return {
    ...{ kernel, formats: [format], name, origin: "generated", long, files: [] },
    make: (halfQueries) => {
      const random = new Random(codec.headDim * 131 + shape.nKv * 17 + shape.gqa);
      const { period = shape.nKv } = shape;
      const rows = randomRows(codec, period * shape.nKvHeads, random, scales);
      const encoded = repeated(rows, shape.nKv * shape.nKvHeads * codec.rowBytes);
      const queries = Array.from({ length: shape.nKvHeads * shape.gqa }, () => random.floats(codec.headDim));
      return scoreCase(kernel, format, shape, encoded, queries, halfQueries);
    },
  };
}

function golden(kernel: KernelEntry, { format, label, files, count, read }: GoldenRows): PlannedCase {
  return {
    ...{ kernel, formats: [format], name: `golden ${label}`, origin: "golden", long: false, files },
    make: (halfQueries) => {
      const { rows, queries } = read();
      const shape = { ...DEFAULT_SHAPE, nKv: count, nKvHeads: 1, gqa: queries.length, heads: 4 };
      return scoreCase(kernel, format, shape, rows, queries, halfQueries);
    },
  };
}

/** Whole slices of 128 values, a slice alone that is not whole, and a last slice of 32, 64 and 96. */
const HEAD_DIMS = [64, 96, 128, 160, 192, 224, 256, 320, 512];
const SCALES: readonly ScaleProfile[] = ["tiny", "huge", "zero", "nan"];
/** More positions than 16 bits count, and more than a whole group beyond them; rows come again after a prime. */
const MANY_POSITIONS = { nKv: 65_536 + 67, period: 1021 };

/** All cases of a score kernel: elizaOS', golden rows, then generated ones that vary one thing at a time. */
export function scoreCases(kernel: KernelEntry): PlannedCase[] {
  const plan = [
    ...seedCases(kernel),
    ...goldenRows(kernel.formats.map(({ name }) => name)).map((rows) => golden(kernel, rows)),
  ];
  for (const { name, options } of kernel.formats) {
    for (const choice of options) {
      for (const headDim of HEAD_DIMS) {
        const format = fittingFormat(name, headDim, choice);
        if (format) plan.push(generated(kernel, format, {}));
      }
    }
  }
  const { name, options } = kernel.formats[0]!;
  const wide = fittingFormat(name, 512, options[0]!)!;
  const narrow = fittingFormat(name, 64, options[0]!) ?? fittingFormat(name, 128, options[0]!)!;
  const more = (change: Partial<ScoreShape>, scales?: ScaleProfile, long?: boolean): void => {
    plan.push(generated(kernel, narrow, change, scales, long));
  };
  for (const gqa of [1, 3, 4, 8]) more({ gqa, heads: gqa, nKv: 33 });
  more({ gqa: 8, heads: 2, nKv: 33 });
  for (const nKvHeads of [3, 5, 8]) more({ nKvHeads, nKv: 33 });
  more({ nKvHeads: 3, gqa: 3, heads: 4, nKv: 33, layout: "head" });
  for (const rows of [1, 2, 4, 8, 128]) {
    more({ rows, nKv: 31 });
    // Enough values that every thread of a team has some.
    plan.push(generated(kernel, wide, { rows, nKv: 31 }));
  }
  for (const nKv of [128, 200]) more({ rows: 128, nKv });
  plan.push(generated(kernel, wide, { rows: 128, nKv: 200, gqa: 8, heads: 8 }));
  for (const nKv of [1, 2, 32, 257]) more({ nKv, nKvHeads: 1 });
  more({ nKv: 4096, nKvHeads: 1 }, "normal", true);
  more({ ...MANY_POSITIONS, nKvHeads: 1, gqa: 1, heads: 1, rows: 128 }, "normal", true);
  for (const scales of SCALES) more({}, scales);
  more({ layout: "head", nKv: 45 });
  return plan;
}

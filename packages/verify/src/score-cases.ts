import type { FormatOptions, KvFormat } from "@eliza-inference/codecs";
import type { KernelEntry } from "./device.ts";
import { formatOf } from "./format-of.ts";
import { type GoldenRows, goldenRows } from "./golden.ts";
import { halfQuery } from "./half-queries.ts";
import { type KernelCase, type PlannedCase, SCORE_TOLERANCE } from "./kernel-case.ts";
import { Random } from "./random.ts";
import { randomRows, type ScaleProfile } from "./rows.ts";
import { trellisCodebooks, trellisUnits } from "./trellis-buffers.ts";
import { HEADS, teamSize } from "./variants.ts";

/** A format as a score kernel takes it. */
export interface ScoredFormat {
  readonly name: string;
  readonly options: FormatOptions;
}

/** How a score kernel is fed. */
export interface ScoreKernel {
  readonly entry: KernelEntry;
  readonly formats: readonly ScoredFormat[];
  /** True if queries go in as they are: the kernel turns them to the coded basis itself. */
  readonly rawQuery: boolean;
}

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
  kernel: ScoreKernel,
  kv: KvFormat,
  options: FormatOptions,
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
  for (let t = 0; t < nKv; t++) {
    for (let kvHead = 0; kvHead < nKvHeads; kvHead++) {
      const from = (t * nKvHeads + kvHead) * kv.rowBytes;
      const row = encoded.subarray(from, from + kv.rowBytes);
      memory.set(row, t * stride.row + kvHead * stride.head);
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
  const given = kernel.rawQuery ? queries : prepared;
  const flat = new Float32Array(given.length * given[0]!.length);
  for (const [i, query] of given.entries()) flat.set(query, i * query.length);

  const heads = HEADS.findLast((count) => count <= shape.heads) ?? 1;
  const extra = kernel.entry.buffers.includes("codebooks") ? [trellisCodebooks(), trellisUnits(kv)] : [];
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
  kernel: ScoreKernel,
  scored: ScoredFormat,
  headDim: number,
  change: Partial<ScoreShape>,
  scales: ScaleProfile = "normal",
  long = false,
): PlannedCase {
  const shape = { ...DEFAULT_SHAPE, ...change };
  const options = Object.values(scored.options).join(" ");
  const name =
    `${scored.name}${options && ` ${options}`} d${headDim} n_kv ${shape.nKv} ` +
    `gqa ${shape.gqa}x${shape.nKvHeads} rows ${shape.rows} heads ${shape.heads} ${shape.layout} ${scales}`;
  const kv = formatOf(scored.name, headDim, scored.options);
  return {
    kernel: kernel.entry,
    format: kv,
    options: scored.options,
    name,
    origin: "generated",
    long,
    make: (halfQueries) => {
      const random = new Random(headDim * 131 + shape.nKv * 17 + shape.gqa);
      const encoded = randomRows(kv, shape.nKv * shape.nKvHeads, random, scales);
      const queries = Array.from({ length: shape.nKvHeads * shape.gqa }, () => random.floats(headDim));
      return scoreCase(kernel, kv, scored.options, shape, encoded, queries, halfQueries);
    },
  };
}

function golden(kernel: ScoreKernel, rows: GoldenRows): PlannedCase {
  return {
    kernel: kernel.entry,
    format: rows.format,
    options: rows.options,
    name: `golden ${rows.label}`,
    origin: "golden",
    long: false,
    make: (halfQueries) => {
      const { rows: encoded, queries } = rows.read();
      const shape = { ...DEFAULT_SHAPE, nKv: rows.count, nKvHeads: 1, gqa: queries.length, heads: 4 };
      return scoreCase(kernel, rows.format, rows.options, shape, encoded, queries, halfQueries);
    },
  };
}

const HEAD_DIMS = [64, 96, 128, 256, 512];
const SCALES: readonly ScaleProfile[] = ["tiny", "huge", "zero", "nan"];

function fits(scored: ScoredFormat, headDim: number): boolean {
  try {
    formatOf(scored.name, headDim, scored.options);
    return true;
  } catch {
    return false;
  }
}

/** All cases of a score kernel: golden rows, then generated ones that vary one thing at a time. */
export function scoreCases(kernel: ScoreKernel): PlannedCase[] {
  const plan = goldenRows(kernel.formats.map((scored) => scored.name)).map((rows) => golden(kernel, rows));
  for (const scored of kernel.formats) {
    for (const headDim of HEAD_DIMS) {
      if (fits(scored, headDim)) plan.push(generated(kernel, scored, headDim, {}));
    }
  }
  const first = kernel.formats[0]!;
  const dim = fits(first, 64) ? 64 : 128;
  const more = (change: Partial<ScoreShape>, scales?: ScaleProfile, long?: boolean): void => {
    plan.push(generated(kernel, first, dim, change, scales, long));
  };
  for (const gqa of [1, 3, 4, 8]) more({ gqa, heads: gqa, nKv: 33 });
  more({ gqa: 8, heads: 2, nKv: 33 });
  for (const rows of [1, 2, 4, 8, 128]) {
    more({ rows, nKv: 31 });
    // Enough values that every thread of a team has some.
    plan.push(generated(kernel, first, 512, { rows, nKv: 31 }));
  }
  for (const nKv of [128, 200]) more({ rows: 128, nKv });
  plan.push(generated(kernel, first, 512, { rows: 128, nKv: 200, gqa: 8, heads: 8 }));
  for (const nKv of [1, 2, 32, 257]) more({ nKv, nKvHeads: 1 });
  more({ nKv: 4096, nKvHeads: 1 }, "normal", true);
  more({ nKv: 65536, nKvHeads: 1, gqa: 1, heads: 1 }, "normal", true);
  for (const scales of SCALES) more({}, scales);
  more({ layout: "head", nKv: 45 });
  return plan;
}

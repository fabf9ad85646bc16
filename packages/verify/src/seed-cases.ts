import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { FormatOptions } from "@eliza-inference/codecs";
import type { KernelEntry } from "./device.ts";
import { formatOf } from "./format-of.ts";
import { halfQuery } from "./half-queries.ts";
import { type KernelCase, type PlannedCase, SEED_TOLERANCE } from "./kernel-case.ts";
import { ROOT } from "./repository.ts";
import { trellisCodebooks, trellisUnits } from "./trellis-buffers.ts";
import { teamSize } from "./variants.ts";

/** One of the seed's own fixture files, as a kernel reads it. */
interface SeedFixture {
  readonly file: string;
  readonly format: string;
  readonly options?: FormatOptions;
  /** Names of its fields. Queries go in as they are: the seed's are in the basis that the kernel takes. */
  readonly query: string;
  readonly rows: string;
  readonly scores: string;
}

function fixture(file: string, formatName: string, change: Partial<SeedFixture> = {}): SeedFixture {
  return { file, format: formatName, query: "q", rows: "k_blocks", scores: "expected_scores", ...change };
}

const QJL = [fixture("qjl", "qjl1_256", { query: "q_sketch", options: { projection: "iid" } })];
const RESIDUAL = { options: { residual: true } };
const POLAR = [fixture("polar", "q4_polar"), fixture("polar_qjl", "q4_polar", RESIDUAL)];

const FIXTURES: Readonly<Record<string, readonly SeedFixture[]>> = {
  turbo3_score: [fixture("turbo3", "turbo3"), fixture("turbo3_rot", "turbo3")],
  turbo4_score: [fixture("turbo4", "turbo4"), fixture("turbo4_rot", "turbo4")],
  trellis_score: [fixture("turbo3_tcq", "turbo3_tcq"), fixture("turbo3_tcq_rot", "turbo3_tcq")],
  qjl_score: QJL,
  qjl_mul_mv: QJL,
  polar_score: POLAR,
  polar_mul_mv: POLAR,
  polar_preht_score: [
    fixture("polar_preht", "q4_polar", { query: "hq" }),
    fixture("polar_preht", "q4_polar", {
      query: "hq",
      rows: "k_blocks_qjl",
      scores: "expected_scores_qjl",
      ...RESIDUAL,
    }),
  ],
};

const HEAD_DIM = 128;

function pathOf({ file }: SeedFixture): string {
  return `fixtures/${file}.json`;
}

/** The seed's fixture files that a kernel is held against, from ROOT. */
export function seedFiles(kernel: KernelEntry): string[] {
  return [...new Set((FIXTURES[kernel.id] ?? []).map(pathOf))];
}

function seedCase(kernel: KernelEntry, seed: SeedFixture, halfQueries: boolean): KernelCase {
  const content = JSON.parse(readFileSync(join(ROOT, pathOf(seed)), "utf8")) as Record<string, number[]>;
  const rows = Uint8Array.from(content[seed.rows]!);
  const query = halfQuery(Float32Array.from(content[seed.query]!), halfQueries);
  const expected = Float64Array.from(content[seed.scores]!);
  const kv = formatOf(seed.format, HEAD_DIM, seed.options);
  const count = expected.length;
  if (count === 0 || rows.length !== count * kv.rowBytes || query.length === 0) {
    throw new Error(
      `${pathOf(seed)}: ${rows.length} bytes and ${query.length} query values for ${count} scores`,
    );
  }
  if (halfQueries) {
    // The file's scores are those of the float32 sketch: a device that rounds it is held to the rounded one's.
    for (let row = 0; row < count; row++) {
      const decoded = kv.decodeRotated(rows.subarray(row * kv.rowBytes, (row + 1) * kv.rowBytes));
      expected[row] = decoded.reduce((sum, value, i) => sum + value * query[i]!, 0);
    }
  }
  const flags = seed.options?.residual ? 1 : 0;
  const isMatrix = kernel.id.endsWith("_mul_mv");
  const perGroup = 8;
  return {
    constants: { rows: perGroup, heads: 1, threads: teamSize(perGroup) * perGroup },
    groups: [Math.ceil(count / perGroup), 1, 1],
    params: isMatrix
      ? Uint32Array.of(count, HEAD_DIM, kv.rowBytes, flags)
      : Uint32Array.of(1, 1, count, HEAD_DIM, kv.rowBytes, kv.rowBytes, flags),
    inputs: [
      rows,
      query,
      undefined,
      ...(kernel.buffers.includes("codebooks") ? [trellisCodebooks(), trellisUnits(kv)] : []),
    ],
    expected,
    magnitude: new Float64Array(count).fill(1),
    tolerance: { absolute: SEED_TOLERANCE },
  };
}

/** The seed's own set, at its own tolerance. */
export function seedCases(kernel: KernelEntry): PlannedCase[] {
  return (FIXTURES[kernel.id] ?? []).map((seed) => {
    const options = seed.options ?? {};
    return {
      kernel,
      format: formatOf(seed.format, HEAD_DIM, options),
      options,
      name: `seed ${seed.file} ${seed.rows}`,
      origin: "seed" as const,
      long: false,
      make: (halfQueries = false) => seedCase(kernel, seed, halfQueries),
    };
  });
}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { KernelEntry, SeedFixture } from "./device.ts";
import { formatOf } from "./format-of.ts";
import { halfQuery } from "./half-queries.ts";
import { type KernelCase, type PlannedCase, SEED_TOLERANCE } from "./kernel-case.ts";
import { ROOT } from "./repository.ts";
import { trellisCodebooks, trellisUnits } from "./trellis-buffers.ts";
import { teamSize } from "./variants.ts";

const HEAD_DIM = 128;

function pathOf({ file }: SeedFixture): string {
  return `fixtures/${file}.json`;
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
  const flags = seed.options.residual ? 1 : 0;
  const isMatrix = kernel.family === "mul_mv";
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

/** elizaOS' own set, at its own tolerance. */
export function seedCases(kernel: KernelEntry): PlannedCase[] {
  return kernel.seeds.map((seed) => ({
    kernel,
    formats: [{ codec: formatOf(seed.format, HEAD_DIM, seed.options), options: seed.options }],
    name: `seed ${seed.file} ${seed.rows}`,
    origin: "seed" as const,
    long: false,
    files: [pathOf(seed)],
    make: (halfQueries = false) => seedCase(kernel, seed, halfQueries),
  }));
}

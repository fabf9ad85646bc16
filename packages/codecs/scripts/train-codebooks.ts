// Makes the data of this package: npm run codebooks (minutes). Ends in the very bytes that are committed:
// src/codebooks.data.ts, from which kernels/tables is written.
import { renameSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { iidProjection, orthogonalProjection, QJL_SEEDS } from "../src/qjl-projection.ts";
import { sha256 } from "../src/sha256.ts";
import { tableBytes } from "../src/tile-codec.ts";
import type { TrellisRate } from "../src/trellis-codebook.ts";
import { lloydMax } from "./lloyd-max.ts";
import { gaussianTiles, trainTrellis } from "./train-trellis.ts";

const TRAINING_SEED = 0x7ea1n;
const TILES = 4000;
const ROUNDS = 40;
const RATES: readonly TrellisRate[] = [1, 2, 3, 4, 5, 6];

const lines = [
  "// Made by packages/codecs/scripts/train-codebooks.ts; not edited by hand.",
  "",
  "/** Trellis codebooks by rate: 512 int8 values by state, and the float32 value of one unit. */",
  "export const TRELLIS_DATA = [",
];
const tiles = gaussianTiles(TRAINING_SEED, TILES);
for (const rate of RATES) {
  const { values, step } = trainTrellis(rate, tiles, ROUNDS);
  const digest = sha256(new Uint8Array(values.buffer));
  console.log(`trellis ${rate}: step ${step.toPrecision(9)}, sha256 ${digest}`);
  lines.push(`  { rate: ${rate}, step: ${step.toPrecision(9)}, sha256: "${digest}", values: [`);
  for (let s = 0; s < values.length; s += 32) lines.push(`    ${values.subarray(s, s + 32).join(",")},`);
  lines.push("  ] },");
}
lines.push("] as const;", "", "/** Positive levels of the optimal scalar quantisers of N(0, 1), by bits. */");
lines.push("export const LLOYD_MAX: Readonly<Record<2 | 3 | 4, readonly number[]>> = {");
for (const bits of [2, 3, 4]) {
  lines.push(
    `  ${bits}: [${lloydMax(2 ** bits)
      .map((level) => level.toFixed(9))
      .join(", ")}],`,
  );
}
lines.push("};", "", "/** sha256 of the QJL projections as little-endian float32, 128 rows of 256. */");
lines.push("export const PROJECTION_SHA256 = {");
lines.push(`  iid: "${sha256(tableBytes(iidProjection(QJL_SEEDS.iid)))}",`);
lines.push(`  orthogonal: "${sha256(tableBytes(orthogonalProjection(QJL_SEEDS.orthogonal)))}",`);
lines.push("} as const;", "");

const path = fileURLToPath(new URL("../src/codebooks.data.ts", import.meta.url));
writeFileSync(`${path}.part`, lines.join("\n"));
renameSync(`${path}.part`, path);

import { lcgGaussians, take } from "../src/gaussian-stream.ts";
import type { KvFormat } from "../src/index.ts";

/** Seed of the held-out rows; codebooks are trained on another (scripts/train-codebooks.ts). */
export const HELD_OUT_SEED = 0x0ddba11n;

/** Seeded N(0, 1) rows. */
export function gaussianRows(headDim: number, count: number, seed: bigint = HELD_OUT_SEED): Float32Array[] {
  const gaussian = lcgGaussians(seed);
  return Array.from({ length: count }, () => take(gaussian, headDim));
}

/** The same rows with three channels twelve times as large. */
export function outlierRows(headDim: number, count: number): Float32Array[] {
  const rows = gaussianRows(headDim, count);
  for (const row of rows) for (const channel of [5, 38, 59]) row[channel]! *= 12;
  return rows;
}

/** Σ(x − x̂)² / Σx² over dims from..to of the rows. */
export function relativeError(
  format: KvFormat,
  rows: readonly Float32Array[],
  from = 0,
  to = format.headDim,
): number {
  let error = 0;
  let energy = 0;
  for (const row of rows) {
    const decoded = format.decode(format.encode(row));
    for (let i = from; i < to; i++) {
      error += (row[i]! - decoded[i]!) ** 2;
      energy += row[i]! ** 2;
    }
  }
  return error / energy;
}

/** rms of (score − q·k) / (|q| |k|) over pairs of rows. */
export function scoreError(
  format: KvFormat,
  keys: readonly Float32Array[],
  queries: readonly Float32Array[],
): number {
  let sum = 0;
  keys.forEach((key, row) => {
    const query = queries[row]!;
    let dot = 0;
    let keyEnergy = 0;
    let queryEnergy = 0;
    for (let i = 0; i < key.length; i++) {
      dot += query[i]! * key[i]!;
      keyEnergy += key[i]! ** 2;
      queryEnergy += query[i]! ** 2;
    }
    const score = format.score(format.prepareQuery(query), format.encode(key));
    sum += (score - dot) ** 2 / (keyEnergy * queryEnergy);
  });
  return Math.sqrt(sum / keys.length);
}

import { lcgGaussians, take } from "../src/gaussian-stream.ts";

/** Head sizes of the golden fixtures. */
export const GOLDEN_HEAD_DIMS = [64, 96, 128, 256, 512] as const;
export const GOLDEN_ROWS = 32;
export const GOLDEN_QUERIES = 4;

/** Rows that reach the corners of the arithmetic; each gives value i of a row of d. */
const cornerRows: readonly ((i: number, d: number) => number)[] = [
  () => 0,
  () => -0,
  () => 1,
  (i) => (i % 2 ? -1 : 1),
  (i) => (i === 0 ? 1 : 0),
  (i, d) => (i === d - 1 ? -3 : 0),
  (i) => 1e-9 * ((i % 5) - 2), // just above the sum that counts as zero
  (i) => 1e-10 * ((i % 7) - 3), // below it
  (i) => 1e-41 * ((i % 3) - 1), // subnormal
  (i) => 3e-5 * ((i % 11) - 5), // subnormal fp16 scale
  (i) => 70000 * ((i % 13) - 6), // scale beyond fp16
  (i) => 1e15 * ((i % 3) - 1),
  (i) => 2 ** ((i % 24) - 12), // wide dynamic range
  (i, d) => (i - d / 2) / d,
];

/** The input rows of one head size: corner cases, outlier channels, mixed magnitudes, then plain Gaussians. */
export function goldenRows(headDim: number): Float32Array[] {
  const gaussian = lcgGaussians(0x5eed0000n + BigInt(headDim));
  const rows: Float32Array[] = cornerRows.map((value) =>
    Float32Array.from({ length: headDim }, (_, i) => value(i, headDim)),
  );
  while (rows.length < GOLDEN_ROWS) {
    const row = take(gaussian, headDim);
    const kind = rows.length % 4;
    if (kind === 0) for (const channel of [3, 17, 40]) row[channel]! *= 12;
    if (kind === 1) for (let i = 0; i < headDim; i++) row[i]! *= 1 - (0.97 * i) / headDim;
    if (kind === 2) for (let i = 0; i < headDim; i++) row[i]! *= Math.abs(row[i]!);
    rows.push(row);
  }
  return rows;
}

/** Queries of one head size, plain Gaussians. */
export function goldenQueries(headDim: number): Float32Array[] {
  const gaussian = lcgGaussians(0x9e5e0000n + BigInt(headDim));
  return Array.from({ length: GOLDEN_QUERIES }, () => take(gaussian, headDim));
}

/** Rows one after the other, as they lie in a file. */
export function concatenate(rows: readonly (Float32Array | Uint8Array)[]): Uint8Array {
  const parts = rows.map((row) => new Uint8Array(row.buffer, row.byteOffset, row.byteLength));
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

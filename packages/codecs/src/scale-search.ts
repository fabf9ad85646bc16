import { dotLanes } from "./lane-sums.ts";

/** A scalar quantiser: ascending centroids, the thresholds between them, and the scales that are tried. */
export interface ScalarTable {
  /** Ascending reconstruction values, float32. */
  readonly centroids: Float32Array;
  /** centroids.length − 1 ascending thresholds: code = how many of them are ≤ the value. */
  readonly thresholds: Float32Array;
  /** Takes a unit-mean-square value to the centroids' unit, float32. */
  readonly unit: number;
  /** Factors tried on unit-mean-square values by the default encoder, `unit` included, in this order. */
  readonly candidates: Float32Array;
}

/**
 * The twelve factors that the default encoder tries: geometric from 1/1.3 to 1/0.65. An octave holds nearly
 * all optima of Gaussian tiles; 91 candidates gain one per cent more.
 */
const CANDIDATE_FACTORS = [
  0.7692, 0.8193, 0.8725, 0.9293, 0.9897, 1.0541, 1.1227, 1.1957, 1.2735, 1.3563, 1.4445, 1.5385,
];

/** Builds a table from the positive centroids and positive thresholds (both symmetric about zero). */
export function symmetricTable(
  positiveCentroids: readonly number[],
  positiveThresholds: readonly number[],
  unit: number,
): ScalarTable {
  const mirror = (values: readonly number[]) => [...values].reverse().map((value) => -value);
  const unitF32 = Math.fround(unit);
  return {
    centroids: Float32Array.from([...mirror(positiveCentroids), ...positiveCentroids]),
    thresholds: Float32Array.from([...mirror(positiveThresholds), 0, ...positiveThresholds]),
    unit: unitF32,
    candidates: Float32Array.from(CANDIDATE_FACTORS, (factor) => Math.fround(factor) * unitF32),
  };
}

/** code = how many thresholds are ≤ v (a value on a threshold takes the upper code). */
export function codeOf(table: ScalarTable, v: number): number {
  const { thresholds } = table;
  let code = 0;
  for (let step = (thresholds.length + 1) >> 1; step > 0; step >>= 1) {
    if (v >= thresholds[code + step - 1]!) code += step;
  }
  return code;
}

/** Codes of u·factor by thresholds. */
export function codesAt(table: ScalarTable, u: Float32Array, factor: number, codes: Uint8Array): void {
  for (let i = 0; i < u.length; i++) codes[i] = codeOf(table, Math.fround(u[i]! * factor));
}

const values = new Float32Array(128);
const trial = new Uint8Array(128);

/**
 * Codes of `u` (unit mean square) at the candidate factor whose least-squares fit explains most, and that
 * fit: returns num/den with num = Σ u·c and den = Σ c·c. A candidate wins only if num·num/den, in float32,
 * is strictly larger than all before it.
 */
export function searchScale(table: ScalarTable, u: Float32Array, codes: Uint8Array): number {
  const c = values.subarray(0, u.length);
  let best = -1;
  let fit = 0;
  for (const factor of table.candidates) {
    for (let i = 0; i < u.length; i++) {
      const code = codeOf(table, Math.fround(u[i]! * factor));
      trial[i] = code;
      c[i] = table.centroids[code]!;
    }
    const num = dotLanes(u, c);
    const den = dotLanes(c, c);
    const explained = Math.fround(Math.fround(num * num) / den);
    if (explained > best) {
      best = explained;
      fit = Math.fround(num / den);
      codes.set(trial.subarray(0, u.length));
    }
  }
  return fit;
}

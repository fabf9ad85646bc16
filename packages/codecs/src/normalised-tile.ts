import { dotLanes } from "./lane-sums.ts";

/** Below this sum of squares a tile is stored as zeros: its scale would round to zero in fp16 anyway. */
const ZERO_BELOW = 2 ** -60;

/** A rotated tile brought to unit mean square. */
export interface NormalisedTile {
  /** "zero": all bytes are zero. "overflow": NaN scale, zero codes. */
  readonly kind: "values" | "zero" | "overflow";
  /** Σ z² over 16 lanes. */
  readonly energy: number;
  /** √(energy / n), float32. */
  readonly rms: number;
}

/**
 * Writes u = z · (1/rms) to `unit` and returns rms = √(Σz² · 1/n), each step rounded to float32.
 * A sum of squares that is not finite (NaN or Inf in the row, or magnitudes above 1e18) gives "overflow".
 */
export function normaliseTile(z: Float32Array, unit: Float32Array): NormalisedTile {
  const energy = dotLanes(z, z);
  if (!(energy < Number.POSITIVE_INFINITY)) return { kind: "overflow", energy, rms: Number.NaN };
  if (energy < ZERO_BELOW) return { kind: "zero", energy: 0, rms: 0 };
  const rms = Math.fround(Math.sqrt(Math.fround(energy / z.length)));
  const inverse = Math.fround(1 / rms);
  for (let i = 0; i < z.length; i++) unit[i] = z[i]! * inverse;
  return { kind: "values", energy, rms };
}

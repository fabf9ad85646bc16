/** How RoPE pairs the dimensions of a head: not at all, neighbours (2i, 2i + 1), or halves (i, i + n/2). */
export type RopePairs = "none" | "neighbours" | "halves";

export interface Rope {
  pairs: RopePairs;
  /** Radians a position, one per pair. Dimensions beyond the pairs are not rotated. */
  frequencies: Float64Array;
}

/**
 * Attention sees only differences of positions, so a text that is shifted as a whole is the same text: its keys and
 * queries turn by RoPE and nothing else changes. These are the averages of statistics over the shifts 0 to `shifts`,
 * in closed form: the mean of e^(iωΔ) over whole Δ.
 */
export class Spread {
  readonly #first: Int32Array;
  readonly #second: Int32Array;
  readonly #rest: Int32Array;
  readonly #frequencies: Float64Array;
  readonly #shifts: number;

  /** @param shifts the largest shift in positions; 0 leaves everything as it is */
  constructor(dimensions: number, rope: Rope, shifts: number) {
    const pairs = rope.pairs === "none" ? 0 : rope.frequencies.length;
    const step = rope.pairs === "halves" ? 1 : 2;
    const partner = rope.pairs === "halves" ? pairs : 1;
    this.#first = Int32Array.from({ length: pairs }, (_, pair) => pair * step);
    this.#second = this.#first.map((dimension) => dimension + partner);
    this.#rest = Int32Array.from({ length: dimensions - 2 * pairs }, (_, index) => 2 * pairs + index);
    this.#frequencies = rope.frequencies;
    this.#shifts = shifts;
  }

  /** The average of R(Δ) v; `v` has a value a dimension. */
  vector(v: Float64Array): Float64Array {
    const spread = Float64Array.from(v);
    for (const [pair, frequency] of this.#frequencies.entries()) {
      const [x, y] = [this.#first[pair], this.#second[pair]];
      if (x === undefined || y === undefined) continue;
      const [cos, sin] = meanTurn(frequency, this.#shifts);
      spread[x] = cos * v[x]! - sin * v[y]!;
      spread[y] = sin * v[x]! + cos * v[y]!;
    }
    return spread;
  }

  /** The average of R(Δ) S R(Δ)ᵀ; `s` is symmetric, its rows one after the other. */
  matrix(s: Float64Array): Float64Array {
    const d = 2 * this.#first.length + this.#rest.length;
    const spread = Float64Array.from(s);
    for (let i = 0; i < this.#first.length; i++) {
      const [xi, yi, wi] = [this.#first[i]! * d, this.#second[i]! * d, this.#frequencies[i]!];
      for (let j = 0; j < this.#first.length; j++) {
        const [xj, yj, wj] = [this.#first[j]!, this.#second[j]!, this.#frequencies[j]!];
        // A 2 × 2 block is a multiple of a rotation plus one of a reflection; the first turns by the difference of the
        // two angles, the second by their sum.
        const [s00, s01, s10, s11] = [s[xi + xj]!, s[xi + yj]!, s[yi + xj]!, s[yi + yj]!];
        const [c1, n1] = meanTurn(wi - wj, this.#shifts);
        const [c2, n2] = meanTurn(wi + wj, this.#shifts);
        const [a, b] = [(s00 + s11) / 2, (s10 - s01) / 2];
        const [c, e] = [(s00 - s11) / 2, (s10 + s01) / 2];
        const [ta, tb] = [c1 * a - n1 * b, n1 * a + c1 * b];
        const [tc, te] = [c2 * c - n2 * e, n2 * c + c2 * e];
        spread[xi + xj] = ta + tc;
        spread[xi + yj] = te - tb;
        spread[yi + xj] = tb + te;
        spread[yi + yj] = ta - tc;
      }
      const [cos, sin] = meanTurn(wi, this.#shifts);
      for (const z of this.#rest) {
        const [x, y] = [s[xi + z]!, s[yi + z]!];
        spread[xi + z] = cos * x - sin * y;
        spread[yi + z] = sin * x + cos * y;
        spread[z * d + xi / d] = spread[xi + z]!;
        spread[z * d + yi / d] = spread[yi + z]!;
      }
    }
    return spread;
  }
}

/** The mean of e^(iωΔ) over Δ = 0 to n, as its real and imaginary part. */
function meanTurn(omega: number, n: number): [number, number] {
  const half = omega / 2;
  const sine = Math.sin(half);
  const size = Math.abs(sine) < 1e-12 ? 1 : Math.sin((n + 1) * half) / ((n + 1) * sine);
  return [size * Math.cos(n * half), size * Math.sin(n * half)];
}

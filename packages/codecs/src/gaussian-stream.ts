const MASK_64 = (1n << 64n) - 1n;
const word = new DataView(new ArrayBuffer(8));

/**
 * Natural logarithm of a positive normal number from +, −, ×, ÷ alone, so that every engine gives the same
 * bits (Math.log may differ in the last place). Off by at most 2 units in the last place.
 */
export function naturalLog(x: number): number {
  word.setFloat64(0, x);
  let exponent = ((word.getUint16(0) >> 4) & 2047) - 1023;
  word.setUint16(0, (word.getUint16(0) & 0x800f) | 0x3ff0);
  let mantissa = word.getFloat64(0);
  if (mantissa > Math.SQRT2) {
    mantissa /= 2;
    exponent += 1;
  }
  const s = (mantissa - 1) / (mantissa + 1);
  const square = s * s;
  let sum = 0;
  for (let n = 25; n >= 1; n -= 2) sum = sum * square + 1 / n;
  return 2 * s * sum + exponent * Math.LN2;
}

/**
 * Gaussians in float32 by Marsaglia's polar method from 64-bit words: uniforms from bits 11 to 34 of each
 * word, first u, then the spare v. The method of elizaOS' fixtures and projections.
 */
function polarGaussians(next: () => bigint): () => number {
  let spare: number | undefined;
  const uniform = () => Math.fround(Number((next() >> 11n) & 0xffffffn) / 2 ** 24) * 2 - 1;
  return () => {
    if (spare !== undefined) {
      const value = spare;
      spare = undefined;
      return value;
    }
    for (;;) {
      const u = Math.fround(uniform());
      const v = Math.fround(uniform());
      const s = Math.fround(Math.fround(u * u) + Math.fround(v * v));
      if (s >= 1 || s === 0) continue;
      const log = Math.fround(-2 * Math.fround(naturalLog(s)));
      const factor = Math.fround(Math.sqrt(Math.fround(log / s)));
      spare = Math.fround(v * factor);
      return Math.fround(u * factor);
    }
  };
}

/** Gaussians from the linear congruential generator of elizaOS' fixtures (Knuth's MMIX constants). */
export function lcgGaussians(seed: bigint = 0x9e3779b97f4a7c15n): () => number {
  let state = seed;
  return polarGaussians(() => {
    state = (state * 6364136223846793005n + 1442695040888963407n) & MASK_64;
    return state;
  });
}

/** Gaussians from splitmix64 (Steele, Lea, Flood 2014), as the QJL projections use them. */
export function splitmixGaussians(seed: bigint): () => number {
  let state = seed;
  return polarGaussians(() => {
    state = (state + 0x9e3779b97f4a7c15n) & MASK_64;
    let z = state;
    z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK_64;
    z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & MASK_64;
    return z ^ (z >> 31n);
  });
}

/** `count` values of a stream. */
export function take(gaussian: () => number, count: number): Float32Array {
  return Float32Array.from({ length: count }, gaussian);
}

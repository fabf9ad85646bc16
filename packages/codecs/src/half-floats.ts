const f32 = new Float32Array(1);
const bits = new Uint32Array(f32.buffer);

/** Bits of the fp16 NaN that marks a tile whose input was not finite. */
export const HALF_NAN = 0x7e00;
/** Bits of the bf16 NaN with the same meaning. */
export const BFLOAT_NAN = 0x7fc0;

/** float32 → fp16 bits, round to nearest even; above 65504 gives ±65504 (0x7bff), NaN gives 0x7e00. */
export function halfFromFloat(value: number): number {
  f32[0] = value;
  const word = bits[0]!;
  const sign = (word >>> 16) & 0x8000;
  const magnitude = word & 0x7fffffff;
  if (magnitude > 0x7f800000) return HALF_NAN;
  if (magnitude >= 0x477ff000) return sign | 0x7bff;
  if (magnitude >= 0x38800000) {
    const odd = (magnitude >>> 13) & 1;
    return sign | ((magnitude - 0x38000000 + 0xfff + odd) >>> 13);
  }
  // Below 2^-14 the fp16 step is 2^-24; the product is exact, and so is the test for a tie.
  const steps = Math.abs(f32[0]!) * 0x1000000;
  const floor = Math.floor(steps);
  const rest = steps - floor;
  const up = rest > 0.5 || (rest === 0.5 && floor % 2 === 1);
  return sign | (up ? floor + 1 : floor);
}

/** fp16 bits → the same number as a float32. */
export function floatFromHalf(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >>> 10) & 31;
  const fraction = half & 1023;
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (1024 + fraction) * 2 ** (exponent - 25);
}

/** float32 → bf16 bits, round to nearest even; NaN gives 0x7fc0. */
export function bfloatFromFloat(value: number): number {
  f32[0] = value;
  const word = bits[0]!;
  if ((word & 0x7fffffff) > 0x7f800000) return BFLOAT_NAN;
  return ((word + 0x7fff + ((word >>> 16) & 1)) >>> 16) & 0xffff;
}

/** bf16 bits → the same number as a float32. */
export function floatFromBfloat(bfloat: number): number {
  bits[0] = bfloat << 16;
  return f32[0]!;
}

/** Reads a little-endian 16-bit word at `at`. */
export function readWord(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8);
}

/** Writes a little-endian 16-bit word at `at`. */
export function writeWord(bytes: Uint8Array, at: number, word: number): void {
  bytes[at] = word & 255;
  bytes[at + 1] = word >>> 8;
}

/** Rounds to the nearest fp16, ties to even; magnitudes up to 65504. */
function toHalf(value: number): number {
  const size = Math.abs(value);
  const exponent = Math.max(-14, Math.floor(Math.log2(size || 1)));
  const step = 2 ** (exponent - 10);
  const whole = size / step;
  const floor = Math.floor(whole);
  const rest = whole - floor;
  const up = rest > 0.5 || (rest === 0.5 && floor % 2 === 1);
  return Math.sign(value) * (floor + Number(up)) * step;
}

/** A prepared query as a device that keeps it in fp16 sees it. */
export function halfQuery(query: Float32Array, wanted: boolean): Float32Array {
  return wanted ? query.map(toHalf) : query;
}

/** The value of an fp16 number by its bits; NaN and Inf as such. */
export function floatFromHalf(bits: number): number {
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  const sign = bits & 0x8000 ? -1 : 1;
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25));
}

/** Density of N(0, 1). */
export function normalDensity(x: number): number {
  return Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);
}

/** P(Z < x) of N(0, 1), by the series Φ(x) = ½ + φ(x)·(x + x³/3 + x⁵/(3·5) + …). For |x| below 8. */
export function normalBelow(x: number): number {
  let term = x;
  let sum = x;
  for (let n = 3; Math.abs(term) > 1e-18 && n < 400; n += 2) {
    term *= (x * x) / n;
    sum += term;
  }
  return 0.5 + normalDensity(x) * sum;
}

/** The inverse of normalBelow for p in (0, 1), by bisection and Newton steps. */
export function normalQuantile(p: number): number {
  let low = -8;
  let high = 8;
  for (let i = 0; i < 30; i++) {
    const middle = (low + high) / 2;
    if (normalBelow(middle) < p) low = middle;
    else high = middle;
  }
  let x = (low + high) / 2;
  for (let i = 0; i < 3; i++) x -= (normalBelow(x) - p) / normalDensity(x);
  return x;
}

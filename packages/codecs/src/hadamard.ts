/**
 * The Hadamard transform in place, natural (Sylvester) order, not scaled: for h = 1, 2, 4, … each pair
 * (a, b) at distance h becomes (a + b, a − b), every result rounded to float32.
 * The length is a power of two.
 */
export function hadamard(x: Float32Array): void {
  for (let h = 1; h < x.length; h *= 2) {
    for (let base = 0; base < x.length; base += 2 * h) {
      for (let i = base; i < base + h; i++) {
        const a = x[i]!;
        const b = x[i + h]!;
        x[i] = a + b;
        x[i + h] = a - b;
      }
    }
  }
}

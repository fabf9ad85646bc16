import { CholeskyDecomposition, EigenvalueDecomposition, Matrix } from "ml-matrix";

/** A pair of maps: x is stored as `store` x, and what meets it is multiplied by `inverse`ᵀ. Rows one after the other. */
export interface BalancedMap {
  store: Float64Array;
  inverse: Float64Array;
  /** What an error of equal size costs in each dimension, falling. */
  importance: Float64Array;
}

/** Of the mean diagonal, added to both matrices, so that directions which no token used stay finite. */
const ridge = 1e-4;

/**
 * A with A C Aᵀ = A⁻ᵀ M A⁻¹ = Λ: the energy of what is stored and the weight of an error in it are both diagonal and
 * equal, and fall along the dimensions. With C = L Lᵀ and U S Uᵀ = Lᵀ M L: A = S^¼ Uᵀ L⁻¹, Λ = S^½.
 *
 * @param c covariance of what is stored, d × d
 * @param m second moment of what meets it, d × d
 */
export function balance(c: Float64Array, m: Float64Array, d: number): BalancedMap {
  const lower = new CholeskyDecomposition(ridged(c, d)).lowerTriangularMatrix;
  const inner = lower.transpose().mmul(ridged(m, d)).mmul(lower);
  const { realEigenvalues, eigenvectorMatrix } = new EigenvalueDecomposition(symmetric(inner, d), {
    assumeSymmetric: true,
  });
  const order = realEigenvalues
    .map((_, index) => index)
    .sort((a, b) => realEigenvalues[b]! - realEigenvalues[a]!);
  const largest = realEigenvalues[order[0]!]!;
  const eigenvalues = order.map((index) => Math.max(realEigenvalues[index]!, largest * 1e-14));
  // The energy that is stored is one a dimension on average: any scale would do, this one suits float16.
  const scale = Math.sqrt(d / eigenvalues.reduce((sum, value) => sum + Math.sqrt(value), 0));

  const store = new Float64Array(d * d);
  const inverse = new Float64Array(d * d);
  for (const [row, index] of order.entries()) {
    const weight = eigenvalues[row]! ** 0.25;
    const u = Float64Array.from({ length: d }, (_, i) => eigenvectorMatrix.get(i, index));
    // x L = u from the last column on
    const x = new Float64Array(d);
    for (let i = d - 1; i >= 0; i--) {
      let sum = u[i]!;
      for (let j = i + 1; j < d; j++) sum -= x[j]! * lower.get(j, i);
      x[i] = sum / lower.get(i, i);
    }
    for (let i = 0; i < d; i++) {
      store[row * d + i] = scale * weight * x[i]!;
      let back = 0;
      for (let j = 0; j <= i; j++) back += lower.get(i, j) * u[j]!;
      inverse[i * d + row] = back / (scale * weight);
    }
  }
  return { store, inverse, importance: Float64Array.from(eigenvalues, Math.sqrt) };
}

function ridged(values: Float64Array, d: number): Matrix {
  let trace = 0;
  for (let i = 0; i < d; i++) trace += values[i * d + i]!;
  // A head that no token looked at has no energy at all.
  const added = trace > 0 ? (ridge * trace) / d : 1;
  const matrix = Matrix.zeros(d, d);
  for (let i = 0; i < d; i++) {
    for (let j = 0; j < d; j++) {
      matrix.set(i, j, (values[i * d + j]! + values[j * d + i]!) / 2 + (i === j ? added : 0));
    }
  }
  return matrix;
}

function symmetric(matrix: Matrix, d: number): Matrix {
  for (let i = 0; i < d; i++) {
    for (let j = 0; j < i; j++) {
      const mean = (matrix.get(i, j) + matrix.get(j, i)) / 2;
      matrix.set(i, j, mean);
      matrix.set(j, i, mean);
    }
  }
  return matrix;
}

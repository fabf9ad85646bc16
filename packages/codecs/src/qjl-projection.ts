import { splitmixGaussians, take } from "./gaussian-stream.ts";

/** Values of a key and signs of its sketch. */
export const QJL_WIDTH = 128;
export const QJL_SIGNS = 256;

/** Which projection a qjl1_256 cache was made with; part of its identity. */
export type QjlProjection = "iid" | "orthogonal";

/** splitmix64 seeds; `fused` is that of elizaOS' fused-attention fixtures (iid). */
export const QJL_SEEDS = {
  iid: 0xcafebabe12345678n,
  fused: 0xf00dcafebabe1234n,
  orthogonal: 42n,
} as const;

/** Entries independent N(0, 1): 128 rows of 256, row-major. */
export function iidProjection(seed: bigint): Float32Array {
  return take(splitmixGaussians(seed), QJL_WIDTH * QJL_SIGNS);
}

/** Orthonormalises the columns of a square row-major matrix by Gram–Schmidt, each column twice, in float64. */
function orthonormalise(matrix: Float64Array, n: number): void {
  for (let column = 0; column < n; column++) {
    for (let pass = 0; pass < 2; pass++) {
      for (let earlier = 0; earlier < column; earlier++) {
        let dot = 0;
        for (let row = 0; row < n; row++) dot += matrix[row * n + column]! * matrix[row * n + earlier]!;
        for (let row = 0; row < n; row++) matrix[row * n + column]! -= dot * matrix[row * n + earlier]!;
      }
    }
    let square = 0;
    for (let row = 0; row < n; row++) square += matrix[row * n + column]! ** 2;
    const length = Math.sqrt(square);
    for (let row = 0; row < n; row++) matrix[row * n + column]! /= length;
  }
}

/**
 * Two orthogonal 128 × 128 blocks side by side, columns of length √128: the Q of Gaussian matrices.
 * Halves the noise of iid entries at no cost (Zandieh, Daliri, Han 2024, "QJL", orthogonalise as well).
 */
export function orthogonalProjection(seed: bigint): Float32Array {
  const gaussian = splitmixGaussians(seed);
  const out = new Float32Array(QJL_WIDTH * QJL_SIGNS);
  for (let block = 0; block < QJL_SIGNS / QJL_WIDTH; block++) {
    const matrix = Float64Array.from(take(gaussian, QJL_WIDTH * QJL_WIDTH));
    orthonormalise(matrix, QJL_WIDTH);
    for (let row = 0; row < QJL_WIDTH; row++) {
      for (let column = 0; column < QJL_WIDTH; column++) {
        out[row * QJL_SIGNS + block * QJL_WIDTH + column] =
          matrix[row * QJL_WIDTH + column]! * Math.sqrt(QJL_WIDTH);
      }
    }
  }
  return out;
}

const made = new Map<QjlProjection, Float32Array>();

/** The projection of an identity, 128 × 256 row-major float32; made once, from + − × ÷ √ alone. */
export function qjlProjection(kind: QjlProjection): Float32Array {
  let projection = made.get(kind);
  if (!projection) {
    projection = kind === "iid" ? iidProjection(QJL_SEEDS.iid) : orthogonalProjection(QJL_SEEDS.orthogonal);
    made.set(kind, projection);
  }
  return projection;
}

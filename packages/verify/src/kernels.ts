import type { KernelConstants, KernelEntry } from "./device.ts";

const SCORE_PARAMS = ["n_heads", "n_kv_heads", "n_kv", "head_dim", "row_stride", "head_stride", "flags"];
const MATRIX_PARAMS = ["n_rows", "n_cols", "row_stride", "flags"];

/** Threadgroup memory of a team's parts, after what the format keeps there. */
function teamBytes(sharedFloats: number) {
  return ({ rows, heads, threads }: KernelConstants): number =>
    4 * (sharedFloats + heads * rows * (threads / rows + 1));
}

function scoreKernel(id: string, sharedFloats: number, extra: readonly string[] = []): KernelEntry {
  return {
    id,
    stem: id,
    constants: "rows-heads",
    buffers: ["rows", "queries", "scores", ...extra],
    params: SCORE_PARAMS,
    sharedBytes: teamBytes(sharedFloats),
  };
}

function matrixKernel(
  id: string,
  constants: "none" | "rows",
  sharedFloats: number,
  buffers: string[],
): KernelEntry {
  return { id, stem: id, constants, buffers, params: MATRIX_PARAMS, sharedBytes: teamBytes(sharedFloats) };
}

/** Floats that the polar kernels keep: 16 centroids, and a tile of 128. */
const POLAR_LEVELS = 16;
const POLAR_TILE = 144;

/** Every kernel that the harness knows. The same id, file stem and parameters in all languages. */
export const KERNELS: readonly KernelEntry[] = [
  scoreKernel("turbo4_score", 16),
  scoreKernel("tbq3_score", 8),
  scoreKernel("turbo3_score", 8),
  scoreKernel("trellis_score", 0, ["codebooks", "units"]),
  { ...scoreKernel("polar_score", POLAR_TILE), constants: "rows" },
  scoreKernel("polar_preht_score", POLAR_LEVELS),
  scoreKernel("qjl_score", 0),
  matrixKernel("qjl_mul_mv", "rows", 0, ["rows", "query", "result"]),
  matrixKernel("qjl_get_rows", "none", 0, ["rows", "ids", "result", "projection"]),
  matrixKernel("polar_mul_mv", "rows", POLAR_TILE, ["rows", "query", "result"]),
  matrixKernel("polar_get_rows", "none", POLAR_TILE, ["rows", "ids", "result"]),
];

export function kernelById(id: string): KernelEntry | undefined {
  return KERNELS.find((kernel) => kernel.id === id);
}

import type { KernelConstants, KernelEntry } from "./device.ts";

const SCORE_PARAMS = ["n_heads", "n_kv_heads", "n_kv", "head_dim", "row_stride", "head_stride", "flags"];
const MATRIX_PARAMS = ["n_rows", "n_cols", "row_stride", "flags"];

const SLICE_VALUES = 128;
const SLICE_WORDS = 25;

/** Threadgroup memory: the format's own, slices of rows and queries, and the parts of a team. */
function sliceBytes(formatFloats: number, queryPerValue: number) {
  return ({ rows, heads, threads }: KernelConstants): number => {
    const parts = threads > rows ? heads * threads : 0;
    return 4 * (formatFloats + rows * SLICE_WORDS + heads * SLICE_VALUES * queryPerValue + parts);
  };
}

function scoreKernel(
  id: string,
  formatFloats: number,
  { queryPerValue = 1, extra = [] as readonly string[] } = {},
): KernelEntry {
  return {
    id,
    stem: id,
    constants: "rows-heads",
    buffers: ["rows", "queries", "scores", ...extra],
    params: SCORE_PARAMS,
    sharedBytes: sliceBytes(formatFloats, queryPerValue),
  };
}

function matrixKernel(
  id: string,
  constants: "none" | "rows",
  formatFloats: number,
  queryPerValue: number,
  buffers: readonly string[],
): KernelEntry {
  const sharedBytes = sliceBytes(formatFloats, queryPerValue);
  return { id, stem: id, constants, buffers, params: MATRIX_PARAMS, sharedBytes };
}

const CODEBOOK_WORDS = 6 * 128;

/** Every kernel that the harness knows. The same id, file stem and parameters in all languages. */
export const KERNELS: readonly KernelEntry[] = [
  scoreKernel("turbo4_score", 16),
  scoreKernel("tbq3_score", 8),
  scoreKernel("turbo3_score", 8),
  scoreKernel("trellis_score", CODEBOOK_WORDS, { extra: ["codebooks", "units"] }),
  scoreKernel("polar_score", 16),
  scoreKernel("polar_preht_score", 16),
  scoreKernel("qjl_score", 0, { queryPerValue: 2 }),
  matrixKernel("qjl_mul_mv", "rows", 0, 2, ["rows", "query", "result"]),
  matrixKernel("qjl_get_rows", "none", 0, 2, ["rows", "ids", "result", "projection"]),
  matrixKernel("polar_mul_mv", "rows", 16, 1, ["rows", "query", "result"]),
  matrixKernel("polar_get_rows", "none", 16, 1, ["rows", "ids", "result"]),
];

export function kernelById(id: string): KernelEntry | undefined {
  return KERNELS.find((kernel) => kernel.id === id);
}

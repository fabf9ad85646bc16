import type { KernelConstants, KernelEntry } from "./device.ts";

const SCORE_PARAMS = ["n_heads", "n_kv_heads", "n_kv", "head_dim", "row_stride", "head_stride", "flags"];

function scoreBytes(sharedFloats: number) {
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
    sharedBytes: scoreBytes(sharedFloats),
  };
}

/** Every kernel that the harness knows. The same id, file stem and parameters in all languages. */
export const KERNELS: readonly KernelEntry[] = [scoreKernel("turbo4_score", 16)];

export function kernelById(id: string): KernelEntry | undefined {
  return KERNELS.find((kernel) => kernel.id === id);
}

import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { kernelSourcesHash } from "@eliza-inference/build/kernels";
import { CPU_RUNS } from "./cpu/cpu-runs.ts";
import type { Backend, DeviceName, KernelEntry } from "./device.ts";
import { KERNELS } from "./kernels.ts";
import { ROOT, sourceHash } from "./repository.ts";

export const BACKENDS: readonly Backend[] = ["cpu", "vulkan", "cuda", "metal"];

const EXTENSION: Readonly<Record<Exclude<Backend, "cpu">, string>> = {
  vulkan: "comp",
  metal: "metal",
  cuda: "cu",
};

/** The backend whose sources a device runs. */
export function backendOf(device: DeviceName): Backend {
  return device.replace("emulated-", "") as Backend;
}

/** From ROOT, where a kernel's source in a backend's language is, or would be. On the CPU the library is one. */
export function sourcePath(backend: Backend, kernel: KernelEntry): string {
  return backend === "cpu" ? "kernels/cpu" : `kernels/${backend}/${kernel.stem}.${EXTENSION[backend]}`;
}

/** Whether a kernel has a source in a backend's language. */
export function hasSource(backend: Backend, kernel: KernelEntry): boolean {
  if (kernel.languages && !kernel.languages.includes(backend)) return false;
  const path = join(ROOT, sourcePath(backend, kernel));
  if (!existsSync(path)) return false;
  return backend === "cpu" ? CPU_RUNS[kernel.family] !== undefined : statSync(path).size > 0;
}

/** The kernels that a backend has sources of. */
export function kernelsOn(backend: Backend): KernelEntry[] {
  return KERNELS.filter((kernel) => hasSource(backend, kernel));
}

/** Hash of a kernel's source in this tree with all that it includes; for the CPU, of the library's sources. */
export function kernelSourceHash(backend: Backend, kernel: KernelEntry): string {
  return backend === "cpu" ? kernelSourcesHash(ROOT) : sourceHash(sourcePath(backend, kernel));
}

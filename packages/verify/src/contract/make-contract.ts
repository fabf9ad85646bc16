import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Backend, KernelEntry } from "../device.ts";
import { sourcePath } from "../evidence.ts";
import { KERNELS } from "../kernels.ts";
import { fixturesOf } from "../plan.ts";
import { ROOT, sha256 } from "../repository.ts";
import { symbolOf } from "../variants.ts";
import type { BackendClaim, Contract, KernelClaim } from "./contract-file.ts";
import type { EvidenceFile } from "./evidence-files.ts";
import { earnedStatus } from "./rules.ts";
import { TARGETS } from "./targets.ts";

const CPU_HEADER = "kernels/cpu/include/eliza_kv.h";

/** The CPU library's function that stands for a kernel, or undefined where it has none for the format. */
function cpuClaim(kernel: KernelEntry): Omit<BackendClaim, "status"> | undefined {
  const header = readFileSync(join(ROOT, CPU_HEADER), "utf8");
  const format = kernel.formats[0]!.name;
  const symbol = `ELIZA_KV_DECLARE(${format})`;
  return header.includes(symbol) ? { source: CPU_HEADER, symbol } : undefined;
}

function backendClaim(kernel: KernelEntry, backend: Backend): Omit<BackendClaim, "status"> | undefined {
  if (backend === "cpu") return cpuClaim(kernel);
  const symbol = backend === "vulkan" ? "void main()" : symbolOf(kernel);
  return { source: sourcePath(backend, kernel.id), symbol };
}

function kernelClaim(kernel: KernelEntry, files: readonly EvidenceFile[]): KernelClaim {
  const backends: Partial<Record<Backend, BackendClaim>> = {};
  for (const backend of ["cpu", "vulkan", "cuda", "metal"] as const) {
    const claim = backendClaim(kernel, backend);
    if (claim) backends[backend] = { ...claim, status: earnedStatus(kernel.id, backend, files) };
  }
  return {
    id: kernel.id,
    formats: kernel.formats.map(({ name }) => name),
    capability: kernel.capability,
    fixtures: Object.fromEntries(
      fixturesOf(kernel).map((path) => [path, sha256(readFileSync(join(ROOT, path)))]),
    ),
    backends,
  };
}

/** The contract that this tree and its evidence support. */
export function makeContract(files: readonly EvidenceFile[]): Contract & { readonly $schema: string } {
  const kernels = KERNELS.map((kernel) => kernelClaim(kernel, files));
  return {
    $schema: "./kernel-contract.schema.json",
    schema: 1,
    capabilities: [...new Set(kernels.map(({ capability }) => capability))],
    kernels,
    targets: TARGETS,
  };
}

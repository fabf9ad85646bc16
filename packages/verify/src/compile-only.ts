import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { compile, hasTool } from "./build-cache.ts";
import { compileCubin } from "./cuda/cuda-device.ts";
import type { Backend, DeviceName, KernelEntry } from "./device.ts";
import { hasSource } from "./kernel-sources.ts";
import { KERNELS } from "./kernels.ts";
import { metalPath } from "./metal/metal-device.ts";
import { ROOT, sourceHash } from "./repository.ts";
import { type ConfigurationResult, type DeviceReport, type KernelVerdict, mergeRuns } from "./verify.ts";
import { compileShader } from "./vulkan/compile-shader.ts";

/** NVIDIA architectures that the CUDA sources are compiled for: Ampere to Blackwell. */
export const CUDA_ARCHITECTURES: readonly string[] = ["80", "86", "89", "90", "100", "120"];

interface Compiler {
  readonly device: DeviceName;
  readonly backend: Backend;
  readonly tool: string;
  readonly configurations: readonly string[];
  /** Compiles it for a configuration; returns the hash of the sources that were compiled. */
  build(kernel: KernelEntry, configuration: string): string;
}

function metalAir(kernel: KernelEntry): string {
  const source = metalPath(kernel.stem);
  const args = ["metal", "-std=metal3.0", "-c", join(ROOT, source), "-o", "/dev/null"];
  compile("xcrun", args, source, "install Xcode");
  return sourceHash(source);
}

const COMPILERS: readonly Compiler[] = [
  {
    device: "vulkan",
    backend: "vulkan",
    tool: "glslc",
    configurations: ["vulkan1.2"],
    build: (kernel) => compileShader(kernel.stem).sources,
  },
  {
    device: "cuda",
    backend: "cuda",
    tool: "nvcc",
    configurations: CUDA_ARCHITECTURES.map((architecture) => `sm_${architecture}`),
    build: (kernel, configuration) => compileCubin(kernel.stem, configuration.replace("sm_", "")).sources,
  },
  { device: "metal", backend: "metal", tool: "xcrun", configurations: ["metal3.0"], build: metalAir },
];

function version(tool: string): string {
  const lines = execFileSync(tool, ["--version"], { encoding: "utf8" }).trim().split("\n");
  return (lines.find((line) => /release|metal version/i.test(line)) ?? lines[0]!).trim();
}

function runOf(compiler: Compiler, kernel: KernelEntry, configuration: string): ConfigurationResult {
  const failures: { name: string; reason: string }[] = [];
  let sources: string | undefined;
  const started = performance.now();
  try {
    sources = compiler.build(kernel, configuration);
  } catch (error) {
    failures.push({ name: compiler.tool, reason: (error as Error).message });
  }
  const result = {
    ...{ kernel: kernel.id, cases: 1, differences: [], skipped: {}, failures, sources },
    ...{ maxDifference: 0, maxSeedDifference: undefined, outputs: { short: "", long: "" } },
    milliseconds: performance.now() - started,
  };
  return { configuration, result, harness: undefined };
}

function verdictOf(compiler: Compiler, kernel: KernelEntry): KernelVerdict {
  const { cudaArchitectures } = kernel;
  const wanted =
    compiler.backend === "cuda" && cudaArchitectures
      ? compiler.configurations.filter((name) => cudaArchitectures.includes(name.replace("sm_", "")))
      : compiler.configurations;
  return mergeRuns(
    kernel.id,
    wanted.map((configuration) => runOf(compiler, kernel, configuration)),
  );
}

/** Gives every kernel to the compilers of its backends that this machine has, and runs nothing. */
export function compileOnly(kernels: readonly KernelEntry[] = KERNELS): DeviceReport[] {
  return COMPILERS.map((compiler) => {
    const { device, backend, tool } = compiler;
    if (!hasTool(tool)) {
      const unavailable = { message: `${tool} is not installed`, hint: "its sources are not compiled here" };
      return { device, description: undefined, unavailable, kernels: [], lacking: [] };
    }
    const description = {
      ...{ name: device, backend, kind: "compiled" as const, subgroupWidth: 0, instructionSets: [] },
      ...{ model: `${tool}, compiled only`, driver: version(tool) },
    };
    const verdicts = kernels
      .filter((kernel) => hasSource(backend, kernel))
      .map((kernel) => verdictOf(compiler, kernel));
    return { device, description, unavailable: undefined, kernels: verdicts, lacking: [] };
  });
}

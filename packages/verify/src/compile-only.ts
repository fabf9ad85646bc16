import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { compile, hasTool } from "./build-cache.ts";
import { compileCubin } from "./cuda/cuda-device.ts";
import type { Backend, DeviceName, KernelEntry } from "./device.ts";
import { KERNELS } from "./kernels.ts";
import { metalPath } from "./metal/metal-device.ts";
import { ROOT } from "./repository.ts";
import type { DeviceReport, KernelVerdict } from "./verify.ts";
import { compileShader } from "./vulkan/compile-shader.ts";

/** NVIDIA architectures that the CUDA sources are compiled for: Ampere to Blackwell. */
export const CUDA_ARCHITECTURES: readonly string[] = ["80", "86", "89", "90", "100", "120"];

interface Compiler {
  readonly device: DeviceName;
  readonly backend: Backend;
  readonly tool: string;
  readonly configurations: readonly string[];
  build(kernel: KernelEntry): void;
}

function metalAir(kernel: KernelEntry): void {
  const source = metalPath(kernel.stem);
  const args = ["metal", "-std=metal3.0", "-c", join(ROOT, source), "-o", "/dev/null"];
  compile("xcrun", args, source, "install Xcode");
}

const COMPILERS: readonly Compiler[] = [
  {
    device: "vulkan",
    backend: "vulkan",
    tool: "glslc",
    configurations: ["vulkan1.2"],
    build: (kernel) => void compileShader(kernel.stem),
  },
  {
    device: "cuda",
    backend: "cuda",
    tool: "nvcc",
    configurations: CUDA_ARCHITECTURES.map((architecture) => `sm_${architecture}`),
    build: (kernel) => {
      for (const architecture of CUDA_ARCHITECTURES) compileCubin(kernel.stem, architecture);
    },
  },
  { device: "metal", backend: "metal", tool: "xcrun", configurations: ["metal3.0"], build: metalAir },
];

function version(tool: string): string {
  const lines = execFileSync(tool, ["--version"], { encoding: "utf8" }).trim().split("\n");
  return (lines.find((line) => /release|metal version/i.test(line)) ?? lines[0]!).trim();
}

function verdictOf(compiler: Compiler, kernel: KernelEntry): KernelVerdict {
  const started = performance.now();
  const failures: { name: string; reason: string }[] = [];
  try {
    compiler.build(kernel);
  } catch (error) {
    failures.push({ name: compiler.tool, reason: (error as Error).message });
  }
  return {
    kernel: kernel.id,
    configurations: compiler.configurations,
    cases: compiler.configurations.length,
    maxDifference: 0,
    maxSeedDifference: undefined,
    failures,
    milliseconds: performance.now() - started,
  };
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
      ...{ name: device, backend, kind: "compiled" as const, subgroupWidth: 0 },
      ...{ model: `${tool}, compiled only`, driver: version(tool) },
    };
    const verdicts = kernels.map((kernel) => verdictOf(compiler, kernel));
    return { device, description, unavailable: undefined, kernels: verdicts, lacking: [] };
  });
}

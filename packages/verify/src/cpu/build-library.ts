import { rmSync } from "node:fs";
import { join } from "node:path";
import {
  everyKernelFlag,
  kernelCompileArguments,
  kernelSources,
  kernelSourcesHash,
} from "@eliza-inference/build/kernels";
import { cached, compile } from "../build-cache.ts";
import { ROOT } from "../repository.ts";

const INSTALL = "install a C compiler (Debian: gcc)";

/** What the library is told of its own making, as native/kernels.cmake tells it. */
function vouching(source: string): string[] {
  if (!source.endsWith("/build.c")) return [];
  return [`-DELIZA_KV_SOURCES="${kernelSourcesHash(ROOT)}"`, `-DELIZA_KV_FLAGS="${everyKernelFlag(ROOT)}"`];
}

/**
 * Builds the CPU kernels alone, with the flags of the engine's build, or takes them from the cache.
 * @returns the path of the library
 * @throws VerifyError TOOL_MISSING, KERNEL_BUILD
 */
export function buildCpuLibrary(): string {
  const { path } = cached(kernelSourcesHash(ROOT), [process.arch], "so", (target) => {
    const objects: string[] = [];
    try {
      for (const source of kernelSources(ROOT)) {
        const object = `${target}.${objects.length}.o`;
        objects.push(object);
        const args = [...kernelCompileArguments(ROOT, source, process.arch), ...vouching(source)];
        compile("cc", [...args, "-c", join(ROOT, source), "-o", object], source, INSTALL);
      }
      compile("cc", ["-shared", ...objects, "-lm", "-o", target], "kernels/cpu/src", INSTALL);
    } finally {
      for (const object of objects) rmSync(object, { force: true });
    }
  });
  return path;
}

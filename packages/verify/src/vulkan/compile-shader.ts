import { join } from "node:path";
import { type Artefact, cached, compile } from "../build-cache.ts";
import { ROOT, sourceHash } from "../repository.ts";

const FLAGS = ["--target-env=vulkan1.2", "-O", "-Werror"];

/** From ROOT, the GLSL source of a kernel. */
export function shaderPath(stem: string): string {
  return `kernels/vulkan/${stem}.comp`;
}

/**
 * Compiles a kernel to SPIR-V with glslc, or takes it from the cache.
 * @throws VerifyError TOOL_MISSING, KERNEL_BUILD
 */
export function compileShader(stem: string): Artefact {
  const source = shaderPath(stem);
  return cached(sourceHash(source), FLAGS, "spv", (target) =>
    compile("glslc", [...FLAGS, join(ROOT, source), "-o", target], source, "install glslc (Debian: glslc)"),
  );
}

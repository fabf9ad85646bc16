import { readFileSync } from "node:fs";
import { join } from "node:path";
import { cached, compile } from "../build-cache.ts";
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
export function compileShader(stem: string): Uint32Array {
  const source = shaderPath(stem);
  const path = cached([sourceHash(source), ...FLAGS], "spv", (target) =>
    compile("glslc", [...FLAGS, join(ROOT, source), "-o", target], source, "install glslc (Debian: glslc)"),
  );
  const bytes = readFileSync(path);
  return new Uint32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
}

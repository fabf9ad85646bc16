import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import {
  everyKernelFlag,
  kernelCompileArguments,
  kernelSources,
  kernelSourcesHash,
} from "@eliza-inference/build/kernels";

/**
 * Compiles the CPU kernels of a tree, as a user with a compiler would.
 * @returns paths of two libraries: one that was told its sources, one that was not
 */
export function buildLibraries(root: string, folder: string): { vouched: string; silent: string } {
  mkdirSync(folder, { recursive: true });
  const compile = (source: string, object: string, more: readonly string[] = []): string => {
    const args = [...kernelCompileArguments(root, source, process.arch), ...more];
    execFileSync("cc", [...args, "-c", join(root, source), "-o", object]);
    return object;
  };
  const sources = kernelSources(root);
  const build = sources.find((source) => source.endsWith("/build.c"))!;
  const objects = sources
    .filter((source) => source !== build)
    .map((source, i) => compile(source, join(folder, `${i}.o`)));
  const link = (name: string, object: string): string => {
    const library = join(folder, `${name}.so`);
    execFileSync("cc", ["-shared", ...objects, object, "-lm", "-o", library]);
    return library;
  };
  const told = [
    `-DELIZA_KV_SOURCES="${kernelSourcesHash(root)}"`,
    `-DELIZA_KV_FLAGS="${everyKernelFlag(root)}"`,
  ];
  return {
    vouched: link("vouched", compile(build, join(folder, "told.o"), told)),
    silent: link("silent", compile(build, join(folder, "untold.o"))),
  };
}

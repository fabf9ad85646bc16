import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { kernelFlags } from "@eliza-inference/build/kernel-flags";
import { cached, compile } from "../build-cache.ts";
import { ROOT, sha256 } from "../repository.ts";

const FOLDER = "kernels/cpu/src";
const INSTALL = "install a C compiler (Debian: gcc)";
const FLAGS = [
  "-std=c11",
  "-O2",
  "-shared",
  "-fPIC",
  "-fvisibility=hidden",
  "-ffp-contract=off",
  "-Wall",
  "-Wextra",
];

/** From ROOT, the C sources of the CPU kernels. */
function cpuSources(): string[] {
  return readdirSync(join(ROOT, FOLDER))
    .filter((file) => file.endsWith(".c"))
    .sort()
    .map((file) => `${FOLDER}/${file}`);
}

/** The texts of the CPU kernels' sources, headers and tables, each with its path. */
function sourceTexts(): string[] {
  const headers = ["kernels/cpu/include", FOLDER, "kernels/tables"].flatMap((folder) =>
    readdirSync(join(ROOT, folder))
      .filter((file) => /\.(h|inc)$/.test(file))
      .map((file) => `${folder}/${file}`),
  );
  return [...cpuSources(), ...headers.sort(), "kernels/cpu/instruction-sets.txt"].map(
    (file) => `${file}\n${readFileSync(join(ROOT, file), "utf8")}`,
  );
}

/** Hash of all that the CPU library is made from. */
export function cpuSourceHash(): string {
  return sha256(sourceTexts().join("\0"));
}

/**
 * Builds the CPU kernels alone, as native/kernels.cmake does inside the engine, or takes them from the cache.
 * @returns the path of the library
 * @throws VerifyError TOOL_MISSING, KERNEL_BUILD
 */
export function buildCpuLibrary(): string {
  return cached([...sourceTexts(), ...FLAGS, process.arch], "so", (target) => {
    const includes = ["-I", join(ROOT, "kernels/cpu/include"), "-I", join(ROOT, "kernels/tables")];
    const compiling = FLAGS.filter((flag) => flag !== "-shared");
    const objects = cpuSources().map((source, i) => {
      const object = `${target}.${i}.o`;
      const args = [
        ...compiling,
        ...kernelFlags(ROOT, source),
        ...includes,
        "-c",
        join(ROOT, source),
        "-o",
        object,
      ];
      compile("cc", args, source, INSTALL);
      return object;
    });
    try {
      compile("cc", ["-shared", ...objects, "-lm", "-o", target], FOLDER, INSTALL);
    } finally {
      for (const object of objects) rmSync(object, { force: true });
    }
  });
}

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const SOURCES = "kernels/cpu/src";
const INCLUDES = ["kernels/cpu/include", "kernels/tables"];

function filesBelow(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? filesBelow(root, path) : [path];
  });
}

/**
 * What libeliza_kv's `eliza_kv_build` calls its sources: sha256 over `path sha256 LF` of every file below kernels/cpu and
 * kernels/tables, sorted by path. native/kernels.cmake computes the same.
 * @param root the repository's root
 */
export function kernelSourcesHash(root: string): string {
  const total = createHash("sha256");
  for (const path of ["kernels/cpu", "kernels/tables"].flatMap((folder) => filesBelow(root, folder)).sort()) {
    const content = createHash("sha256")
      .update(readFileSync(join(root, path)))
      .digest("hex");
    total.update(`${path} ${content}\n`);
  }
  return total.digest("hex");
}

/** The C sources of the CPU kernels, from `root`. */
export function kernelSources(root: string): string[] {
  return readdirSync(join(root, SOURCES))
    .filter((file) => file.endsWith(".c"))
    .sort()
    .map((file) => `${SOURCES}/${file}`);
}

const FLAG_LINE = /^([a-z0-9]+): (.*)$/gm;

/** Compiler flags by where they count, from kernels/cpu/flags.txt. */
function flagLines(root: string): Map<string, string> {
  const text = readFileSync(join(root, "kernels/cpu/flags.txt"), "utf8");
  return new Map([...text.matchAll(FLAG_LINE)].map(([, where, flags]) => [where!, flags!]));
}

/** The flags of every source, as eliza_kv_build reports them. */
export function everyKernelFlag(root: string): string {
  return flagLines(root).get("every") ?? "";
}

/**
 * The arguments that compile one source of the CPU kernels, without its own path.
 * @param architecture as Node's process.arch spells it
 */
export function kernelCompileArguments(root: string, source: string, architecture: string): string[] {
  const own = [...flagLines(root)].filter(([where]) => architecture === "x64" && source.includes(where));
  return [
    ...[everyKernelFlag(root), ...own.map(([, flags]) => flags)].flatMap((flags) => flags.split(" ")),
    ...INCLUDES.flatMap((folder) => ["-I", join(root, folder)]),
  ];
}

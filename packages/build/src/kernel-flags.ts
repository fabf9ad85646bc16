import { readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The compiler's flags for the instruction sets that a source of kernels/cpu/src may use, by its name.
 * @param root the repository, or a folder with its kernels/
 * @param architecture as Node's process.arch spells it
 */
export function kernelFlags(root: string, source: string, architecture: string = process.arch): string[] {
  for (const line of readFileSync(join(root, "kernels/cpu/instruction-sets.txt"), "utf8").split("\n")) {
    const [target, part, ...flags] = line.split(" ");
    if (target === architecture && part && source.includes(part)) return flags;
  }
  return [];
}

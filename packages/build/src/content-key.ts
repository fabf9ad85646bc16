import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { cpus } from "node:os";
import type { SourcePin } from "./pins.ts";
import { hashTree } from "./tree-hash.ts";

export interface NativeInputs {
  pin: SourcePin;
  /** the repository's root; its native/ and kernels/ are hashed */
  root: string;
  flags: string[];
}

/** What a built library is made from and for. The compiler is no part of it: a library outlives its compiler. */
export interface ContentKey {
  /** 16 hex digits of all that follows */
  key: string;
  /** hex; the pinned source, our sources and the build's flags */
  sources: string;
  /** hex; the build is for this machine's instruction set */
  processor: string;
  /** the processor's name, for messages */
  processorName: string;
}

export async function contentKey(inputs: NativeInputs): Promise<ContentKey> {
  const { pin, root, flags } = inputs;
  const processorName = cpus()[0]?.model.trim() || process.arch;
  const [tree, features] = await Promise.all([
    hashTree(root, ["native", "kernels/cpu", "kernels/tables"]),
    processorFeatures(),
  ]);
  const sources = sha256([`${pin.name} ${pin.version} ${pin.treeSha256}`, flags.join(" "), tree]);
  const processor = sha256([`${process.platform} ${process.arch}`, processorName, features]);
  return { key: sha256([sources, processor]).slice(0, 16), sources, processor, processorName };
}

async function processorFeatures(): Promise<string> {
  try {
    const lines = (await readFile("/proc/cpuinfo", "utf8")).split("\n");
    return lines.find((line) => line.startsWith("flags") || line.startsWith("Features")) ?? "";
  } catch {
    return "";
  }
}

function sha256(lines: string[]): string {
  return createHash("sha256").update(lines.join("\n")).digest("hex");
}

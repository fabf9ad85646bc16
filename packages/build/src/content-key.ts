import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { cpus } from "node:os";
import type { SourcePin } from "./pins.ts";
import type { Tool } from "./toolchain.ts";
import { hashTree } from "./tree-hash.ts";

export interface NativeInputs {
  pin: SourcePin;
  /** the repository's root; its native/ and kernels/ are hashed */
  root: string;
  tools: Iterable<Tool>;
  flags: string[];
}

/** The processor's name and features: the build is for this machine's instruction set. */
async function processorFeatures(): Promise<string> {
  const model = cpus()[0]?.model ?? "unknown";
  try {
    const lines = (await readFile("/proc/cpuinfo", "utf8")).split("\n");
    const features = lines.find((line) => line.startsWith("flags") || line.startsWith("Features")) ?? "";
    return `${model}\n${features}`;
  } catch {
    return model;
  }
}

/** 16 hex digits that change with anything that could change the built library. */
export async function contentKey(inputs: NativeInputs): Promise<string> {
  const hash = createHash("sha256");
  hash.update(`${process.platform} ${process.arch}\n`);
  hash.update(`${await processorFeatures()}\n`);
  hash.update(`${inputs.pin.name} ${inputs.pin.version} ${inputs.pin.treeSha256}\n`);
  for (const tool of inputs.tools) hash.update(`${tool.name} ${tool.version}\n`);
  hash.update(`${inputs.flags.join(" ")}\n`);
  hash.update(await hashTree(inputs.root, ["native", "kernels/cpu", "kernels/tables"]));
  return hash.digest("hex").slice(0, 16);
}

import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

/** Instruction sets by the operating system's names (avx2, avx512_vnni, asimddp, …); none where it does not tell. */
export async function processorFeatures(): Promise<string[]> {
  try {
    if (process.platform === "linux") {
      const text = await readFile("/proc/cpuinfo", "utf8");
      return /^(?:flags|Features)\s*:\s*(.*)$/m.exec(text)?.[1]?.split(/\s+/) ?? [];
    }
    if (process.platform === "darwin" && process.arch === "x64") {
      const names = ["machdep.cpu.features", "machdep.cpu.leaf7_features"];
      return (await promisify(execFile)("sysctl", ["-n", ...names])).stdout.toLowerCase().split(/\s+/);
    }
  } catch {}
  return [];
}

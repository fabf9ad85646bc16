// npm run contract: checks the contract. --write makes it anew, with the README's matrix; --table prints the matrix;
// --recompute also runs what can run here again and compares it with the evidence.
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../repository.ts";
import { verify } from "../verify.ts";
import { CONTRACT_PATH, contractText } from "./contract-file.ts";
import { type Gate, readGate } from "./gate.ts";
import { withMatrix } from "./matrix.ts";
import { compareWithEvidence } from "./recompute.ts";

function replaceFile(path: string, content: string): void {
  writeFileSync(`${path}.new`, content);
  renameSync(`${path}.new`, path);
}

function writeContract({ contract, matrix }: Gate): void {
  replaceFile(join(ROOT, CONTRACT_PATH), contractText(contract));
  const readme = join(ROOT, "README.md");
  const text = readFileSync(readme, "utf8");
  const updated = withMatrix(text, matrix);
  if (updated !== undefined && updated !== text) replaceFile(readme, updated);
}

/** Runs every device whose evidence can be made again, and says what was compared. */
async function recompute(): Promise<string[]> {
  const devices = ["cpu", "vulkan", "emulated-metal", "emulated-cuda"] as const;
  const report = await verify({ devices, onProgress: (line) => console.error(line) });
  return report.devices.flatMap((device) => {
    const { compared, faults, uncompared } = compareWithEvidence(device, false);
    console.log(`${device.device}: ${compared} runs compared to the bit, ${uncompared.length} not compared`);
    for (const line of uncompared) console.log(`  ${line}`);
    return [...faults];
  });
}

const asked = (option: string): boolean => process.argv.includes(option);

if (asked("--table")) {
  console.log(readGate().matrix);
} else {
  if (asked("--write")) writeContract(readGate());
  const { faults, notes, contract } = readGate();
  const all = [...faults, ...(asked("--recompute") ? await recompute() : [])];
  for (const fault of all) console.error(fault);
  for (const note of notes) console.log(note);
  for (const [path, { kind, date }] of Object.entries(contract.evidence)) {
    if (kind === "hardware" && !path.includes("/cpu/")) {
      console.log(`${path}: as committed by a person on ${date}; nothing here can check that it ran`);
    }
  }
  const files = Object.keys(contract.evidence).length;
  console.log(
    all.length === 0 ? `contract: holds, ${files} files of evidence` : `contract: ${all.length} faults`,
  );
  process.exitCode = all.length === 0 ? 0 : 1;
}

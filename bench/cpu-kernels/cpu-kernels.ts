import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { buildKernelProgram, runProgram } from "../../packages/build/test/kernels/kernel-program.ts";

interface Timing {
  readonly format: string;
  readonly operation: "encode" | "decode" | "dot";
  readonly isa: string;
  /** For 128 values, the least of nine turns. */
  readonly ns: number;
}

interface Count {
  readonly format: string;
  readonly operation: string;
  readonly isa: string;
  /** For 128 values; −1 where they cannot be counted. */
  readonly instructions: number;
}

const PROGRAM = fileURLToPath(new URL("bench-kernels.c", import.meta.url));
const COUNTED = ["turbo4", "turbo4_tcq", "turbo3_tcq", "turbo2_tcq"];

function jsonLines<T>(text: string): T[] {
  return text
    .trim()
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as T);
}

/** The lines of one format and operation: nanoseconds by instruction set, and each one's ratio to scalar. */
function table(timings: readonly Timing[]): string[] {
  const sets = [...new Set(timings.map((timing) => timing.isa))];
  const cell = (text: string, width = 12) => text.padStart(width);
  const lines = [
    `${"ns for 128 values".padEnd(26)}${sets.map((set) => cell(set)).join("")}${sets
      .slice(1)
      .map((set) => cell(`scalar/${set}`, 16))
      .join("")}`,
  ];
  for (const { format, operation } of timings.filter((timing) => timing.isa === "scalar")) {
    const of = (isa: string) =>
      timings.find((t) => t.format === format && t.operation === operation && t.isa === isa)?.ns ??
      Number.NaN;
    lines.push(
      `${format.padEnd(18)}${operation.padEnd(8)}${sets.map((set) => cell(of(set).toFixed(1))).join("")}${sets
        .slice(1)
        .map((set) => cell((of("scalar") / of(set)).toFixed(1), 16))
        .join("")}`,
    );
  }
  return lines;
}

/** Nanoseconds of every CPU kernel on every instruction set, in turns, with the ratios between them. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { json: { type: "boolean", default: false }, milliseconds: { type: "string", default: "20" } },
  });
  const folder = mkdtempSync(join(tmpdir(), "eliza-bench-kernels-"));
  try {
    const program = buildKernelProgram(PROGRAM, folder, { flags: ["-O3", "-DNDEBUG"] });
    const { status, stdout, stderr } = runProgram(program, [values.milliseconds]);
    if (status !== 0) throw new Error(`bench-kernels ended with ${status}: ${stderr}`);
    const timings = jsonLines<Timing>(stdout);
    const vectors = [...new Set(timings.map((timing) => timing.isa))].filter((isa) => isa !== "scalar");
    const counts = COUNTED.flatMap((format) =>
      jsonLines<Count>(runProgram(program, ["count", format, ...vectors]).stdout),
    );
    if (values.json) {
      console.log(JSON.stringify({ benchmark: "cpu-kernels", timings, counts }, null, 2));
      return;
    }
    for (const line of table(timings)) console.log(line);
    console.log("\ninstructions for 128 values");
    for (const { format, operation, isa, instructions } of counts) {
      console.log(`${format.padEnd(18)}${operation.padEnd(8)}${isa.padEnd(10)}${instructions}`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

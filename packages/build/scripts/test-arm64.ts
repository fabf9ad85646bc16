/**
 * `npm run test:arm64`: the CPU kernels compiled for AArch64 and run under qemu, NEON and scalar, against the bytes of
 * the TypeScript codecs, then with random shapes. Proves bytes and bounds, says nothing about speed.
 * Needs aarch64-linux-gnu-gcc and qemu-aarch64(-static), or a 64-bit ARM machine with cc.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeKernelCases } from "../test/kernels/kernel-cases.ts";
import { faultOf, parseCheck } from "../test/kernels/kernel-check.ts";
import { buildKernelProgram, hasCommand, runProgram } from "../test/kernels/kernel-program.ts";

const ROWS = Number(process.env.ELIZA_KERNEL_ROWS ?? 12);
const ROUNDS = process.env.ELIZA_KERNEL_ROUNDS ?? "1000";
const SETS = ["neon", "scalar"];

const native = process.arch === "arm64";
const compiler = native ? "cc" : "aarch64-linux-gnu-gcc";
const emulator = native ? [] : ["qemu-aarch64-static", "qemu-aarch64"].filter(hasCommand).slice(0, 1);

function main(): number {
  if (!hasCommand(compiler) || (!native && emulator.length === 0)) {
    console.error(
      `test:arm64 needs ${compiler} and qemu (Debian: gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static)`,
    );
    return 1;
  }
  const folder = mkdtempSync(join(tmpdir(), "eliza-arm64-"));
  const options = { compiler, architecture: "arm64", flags: native ? [] : ["-static"] };
  try {
    const cases = join(folder, "cases.bin");
    writeFileSync(
      cases,
      makeKernelCases((name) => (/tcq|mix/.test(name) ? ROWS : 10 * ROWS)),
    );
    const check = buildKernelProgram("check-kernels.c", join(folder, "check"), options);
    const lines = parseCheck(runProgram(check, [cases, ...SETS], emulator));
    const faults = lines.flatMap((line) => {
      const fault = faultOf(line);
      return fault ? [`${line.format} on ${line.isa}: ${fault}`] : [];
    });
    for (const fault of faults) console.error(fault);
    for (const isa of SETS) {
      const own = lines.filter((line) => line.isa === isa);
      const rows = own.reduce((sum, line) => sum + line.rows, 0);
      console.log(
        `${isa}: ${own.length} formats, ${rows} rows, bytes equal in all but ${faults.length} formats`,
      );
    }
    const fuzz = buildKernelProgram("fuzz-shapes.c", join(folder, "fuzz"), options);
    const { status, stdout, stderr } = runProgram(fuzz, ["7", ROUNDS, ...SETS], emulator);
    process.stdout.write(stdout);
    if (status !== 0) console.error(`random shapes ended with ${status}: ${stderr}`);
    console.log(native ? "ran on this processor" : `emulated by ${emulator[0]}`);
    return faults.length === 0 && status === 0 ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

process.exitCode = main();

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { buildKernelProgram, compilesWith, hasCommand, runProgram } from "./kernel-program.ts";

/** Widths are no constants there, and gcc then takes arrays that loops fill for uninitialised ones. */
const SANITIZED = [
  "-O1",
  "-fsanitize=address,undefined",
  "-fno-sanitize-recover=all",
  "-Wno-maybe-uninitialized",
];
/** Shapes for each instruction set; by default 100 for the fastest here and 25 for the others (docs/cpu-kernels.md has the whole run). */
const ROUNDS = process.env.ELIZA_KERNEL_ROUNDS;
/** Shares of the largest |v|: float32 sums, and qjl1_256, whose query is fp16. */
const TOLERANCE = { others: 2e-5, qjl1_256: 2e-3 };

interface Round {
  readonly k: string;
  readonly v: string;
  readonly worst: number;
}

/** Runs so many random shapes and holds every one against float64; returns the rounds. */
function checkRounds(
  program: string,
  seed: number,
  rounds: number,
  isa: string,
  prefix: string[] = [],
): void {
  const { status, stdout, stderr } = runProgram(program, [`${seed}`, `${rounds}`, isa, "all"], prefix);
  assert.equal(status, 0, `${isa}, seed ${seed}: ${stderr.slice(0, 4000)}`);
  const lines = stdout.trim().split("\n");
  assert.equal(lines.length, rounds + 1);
  for (const line of lines.slice(0, -1)) {
    const round = JSON.parse(line) as Round;
    const tolerance = round.k.startsWith("qjl") ? TOLERANCE.qjl1_256 : TOLERANCE.others;
    assert.ok(round.worst <= tolerance, `${isa}, seed ${seed}: ${line}`);
  }
}

describe("attention on the CPU, against float64", { skip: !hasCommand("cc") && "no C compiler" }, () => {
  const folder = mkdtempSync(join(tmpdir(), "eliza-attention-"));
  after(() => rmSync(folder, { recursive: true, force: true }));

  it("computes every pair of types, mask, window and thread count alike on every instruction set", () => {
    const program = buildKernelProgram("check-attention.c", join(folder, "plain"), { flags: ["-pthread"] });
    for (const isa of ["avx512", "avx2", "neon", "scalar"]) {
      if (runProgram(program, ["1", "0", isa]).status === 0) checkRounds(program, 11, 120, isa);
    }
  });

  const aarch64 = hasCommand("aarch64-linux-gnu-gcc") && hasCommand("qemu-aarch64-static");
  it("does so on AArch64 under emulation", { skip: !aarch64 && "no AArch64 compiler or emulator" }, () => {
    const program = buildKernelProgram("check-attention.c", join(folder, "aarch64"), {
      compiler: "aarch64-linux-gnu-gcc",
      architecture: "arm64",
      flags: ["-pthread", "-static"],
    });
    checkRounds(program, 12, 30, "neon", ["qemu-aarch64-static"]);
  });

  describe("under AddressSanitizer and UBSan", {
    skip: !compilesWith(SANITIZED) && "no C compiler with AddressSanitizer and UBSan",
  }, () => {
    let program = "";
    before(() => {
      program = buildKernelProgram("check-attention.c", join(folder, "sanitized"), {
        flags: [...SANITIZED, "-pthread"],
      });
    });

    it("takes random shapes without a step out of bounds", () => {
      let rounds = ROUNDS === undefined ? 100 : Number(ROUNDS);
      for (const isa of ["avx512", "avx2", "neon", "scalar"]) {
        if (runProgram(program, ["1", "0", isa]).status !== 0) continue;
        checkRounds(program, 13, rounds, isa);
        if (ROUNDS === undefined) rounds = 25;
      }
    });
  });
});

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { makeKernelCases } from "./kernel-cases.ts";
import { faultOf, parseCheck } from "./kernel-check.ts";
import { buildKernelProgram, compilesWith, runProgram } from "./kernel-program.ts";

/** Widths are no constants there, and gcc then takes arrays that loops fill for uninitialised ones. */
const FLAGS = [
  "-O1",
  "-fsanitize=address,undefined",
  "-fno-sanitize-recover=all",
  "-Wno-maybe-uninitialized",
];
/** Shapes for each instruction set; by default 10,000 for the fastest here and 1,000 for the others. */
const ROUNDS = process.env.ELIZA_KERNEL_ROUNDS;

const skip = compilesWith(FLAGS) ? false : "no C compiler with AddressSanitizer and UBSan";

describe("CPU kernels under AddressSanitizer and UBSan", { skip }, () => {
  const folder = mkdtempSync(join(tmpdir(), "eliza-kernels-"));
  let fuzz = "";
  const available = (isa: string) => runProgram(fuzz, ["1", "0", isa]).status === 0;

  before(() => {
    fuzz = buildKernelProgram("fuzz-shapes.c", join(folder, "fuzz"), { flags: FLAGS });
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it("take random shapes, values and bytes without a step out of bounds", () => {
    const sets = ["avx512", "avx2", "neon", "scalar"].filter(available);
    assert.ok(sets.includes("scalar"));
    for (const [i, isa] of sets.entries()) {
      const rounds = ROUNDS ?? (i === 0 ? "10000" : "1000");
      const { status, stdout, stderr } = runProgram(fuzz, ["7", rounds, isa]);
      assert.equal(status, 0, `${isa}: ${stderr.slice(0, 4000)}`);
      assert.equal(JSON.parse(stdout).rounds, Number(rounds));
    }
  });

  it("would be caught if they did step out: a buffer one byte short stops the run", () => {
    const shorter = buildKernelProgram("fuzz-shapes.c", join(folder, "short"), {
      flags: [...FLAGS, "-DBYTES_SHORT=1"],
    });
    const { status, stderr } = runProgram(shorter, ["7", "200", "scalar"]);
    assert.notEqual(status, 0);
    assert.match(stderr, /heap-buffer-overflow/);
  });

  it("compute the right bytes there too", () => {
    const cases = join(folder, "cases.bin");
    writeFileSync(
      cases,
      makeKernelCases(() => 2),
    );
    const check = buildKernelProgram("check-kernels.c", join(folder, "check"), { flags: FLAGS });
    for (const line of parseCheck(runProgram(check, [cases]))) {
      assert.equal(faultOf(line), undefined, `${line.format} on ${line.isa}`);
    }
  });
});

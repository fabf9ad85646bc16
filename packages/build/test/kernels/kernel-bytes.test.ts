import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { libraryFormats, makeKernelCases, ODD_ROWS } from "./kernel-cases.ts";
import { type CheckLine, parseCheck } from "./kernel-check.ts";
import { buildKernelProgram, hasCommand, runProgram } from "./kernel-program.ts";

/** Rows a format beside the odd ones; a trellis row takes the TypeScript reference about a millisecond. */
const ROWS = Number(process.env.ELIZA_KERNEL_ROWS ?? 0);
const gaussianRows = (name: string) => ROWS || (/tcq|mix/.test(name) ? 12 : 150);

const skip = hasCommand("cc") ? false : "no C compiler";

describe("CPU kernels give the bytes of the TypeScript codecs", { skip }, () => {
  const folder = mkdtempSync(join(tmpdir(), "eliza-kernels-"));
  let lines: CheckLine[] = [];

  before(() => {
    const cases = join(folder, "cases.bin");
    writeFileSync(cases, makeKernelCases(gaussianRows));
    lines = parseCheck(runProgram(buildKernelProgram("check-kernels.c", folder), [cases]));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it("runs every format on every instruction set of this processor, scalar among them", () => {
    const sets = [...new Set(lines.map((line) => line.isa))];
    assert.ok(sets.includes("scalar"));
    for (const isa of sets) {
      const formats = lines.filter((line) => line.isa === isa).map((line) => line.format);
      assert.deepEqual(
        formats.sort(),
        libraryFormats()
          .map(({ name }) => name)
          .sort(),
      );
    }
    for (const line of lines) assert.equal(line.rows, ODD_ROWS + gaussianRows(line.format));
  });

  it("encodes to the same bytes, by the default and the documented encoder", () => {
    for (const line of lines) {
      assert.equal(line.encodeDiffers, 0, `${line.format} on ${line.isa}`);
      assert.equal(line.referenceDiffers, 0, `${line.format} on ${line.isa}, reference`);
    }
  });

  it("shows NaN where, and only where, the reference does", () => {
    for (const line of lines) assert.equal(line.notFiniteDiffers, 0, `${line.format} on ${line.isa}`);
  });

  it("decodes within 1e-6 of a row's largest value, in both bases", () => {
    for (const line of lines) {
      assert.ok(line.decode <= 1e-6, `${line.format} on ${line.isa}: ${line.decode}`);
      assert.ok(line.rotated <= 1e-6, `${line.format} on ${line.isa}: ${line.rotated}`);
    }
  });

  it("prepares queries within 1e-6 of the largest value; qjl1_256's sketch within the rounding of fp16", () => {
    for (const line of lines) {
      const allowed = line.format.startsWith("qjl") ? 2 ** -11 : 1e-6;
      assert.ok(line.prepared <= allowed, `${line.format} on ${line.isa}: ${line.prepared}`);
    }
  });

  it("scores within 5e-7 of the sum of |q·k|", () => {
    for (const line of lines) assert.ok(line.score <= 5e-7, `${line.format} on ${line.isa}: ${line.score}`);
  });
});

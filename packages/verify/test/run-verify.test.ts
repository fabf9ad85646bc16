import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { type KernelEvidence, readEvidence } from "../src/evidence.ts";
import { kernelById } from "../src/kernels.ts";
import { planOf } from "../src/plan.ts";
import type { VerifyReport } from "../src/verify.ts";
import { NO_CC, NO_CLANG, NO_VULKAN } from "./devices-here.ts";

const MAIN = fileURLToPath(new URL("../src/main.ts", import.meta.url));

function run(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...process.execArgv, MAIN, ...args], {
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

test("a device that is not known is refused with the list of those that are", () => {
  const { status, stderr } = run("--device", "opencl");
  assert.equal(status, 2);
  assert.match(stderr, /no device opencl\nthere are cpu, vulkan, cuda, metal/);
});

test("a kernel that is not known is refused with the list of those that are", () => {
  const { status, stderr } = run("--kernel", "turbo9");
  assert.equal(status, 2);
  assert.match(stderr, /no kernel turbo9\nthere are turbo4_score/);
});

test("a short run gives no evidence", () => {
  const { status, stderr } = run("--short", "--evidence", "anywhere");
  assert.equal(status, 2);
  assert.match(stderr, /--short gives no evidence/);
});

test("a software device does not pass for hardware", { skip: NO_VULKAN }, () => {
  const { status, stderr, stdout } = run(
    "--hardware",
    "--short",
    "--device",
    "vulkan",
    "--kernel",
    "turbo4",
    "--json",
  );
  const kind = (JSON.parse(stdout) as VerifyReport).devices[0]?.description?.kind;
  assert.equal(status, kind === "hardware" ? 0 : 1);
  if (kind === "software") assert.match(stderr, /not hardware: vulkan: .* is software, not hardware/);
});

test("the table names the kernel, its cases, the largest difference, the verdict and the time", {
  skip: NO_CLANG,
}, () => {
  const { status, stdout } = run("--short", "--device", "emulated-cuda", "--kernel", "turbo4");
  assert.equal(status, 0);
  assert.match(stdout, /^emulated-cuda \(emulated\): .*subgroup 32, subgroup 64$/m);
  assert.match(stdout, /^kernel +cases +skipped +largest +verdict +time$/m);
  assert.match(stdout, /^turbo4_score +\d+ +0 +\d\.\de-\d +pass +\d+\.\d s$/m);
});

test("evidence says what was run on what, under a seal, and keeps what it said of other kernels", {
  skip: NO_CC,
}, () => {
  const folder = mkdtempSync(join(tmpdir(), "eliza-evidence-"));
  try {
    for (const kernel of ["turbo4_score", "tbq3_score"]) {
      assert.equal(run("--device", "cpu", "--kernel", kernel, "--evidence", folder).status, 0);
    }
    const [file] = readdirSync(join(folder, "cpu"));
    const path = join(folder, "cpu", file!);
    const evidence = readEvidence(path);
    assert.deepEqual(Object.keys(evidence.kernels), ["turbo4_score", "tbq3_score"]);
    assert.equal(evidence.kind, "hardware");
    const turbo4 = evidence.kernels.turbo4_score as KernelEvidence;
    assert.equal(turbo4.runs[0]!.configuration, "scalar");
    for (const { differences } of turbo4.runs) {
      assert.equal(differences.length, planOf(kernelById("turbo4_score")!, false).length);
      assert.ok(differences.every((value) => value !== null && value < 1e-3));
      assert.ok(differences.some((value) => value! > 0));
    }
    assert.match(
      readFileSync(path, "utf8"),
      /"source": \{\s+"path": "kernels\/cpu",\s+"sha256": "[0-9a-f]{64}"/,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

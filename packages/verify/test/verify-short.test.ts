// CI's short form: every kernel on every device that this machine has.
import assert from "node:assert/strict";
import { test } from "node:test";
import { compareWithEvidence } from "../src/contract/recompute.ts";
import { reportText, verify } from "../src/index.ts";
import { backendOf, kernelsOn } from "../src/kernel-sources.ts";
import { NO_CC, NO_CLANG, NO_VULKAN } from "./devices-here.ts";

for (const [device, skip] of [
  ["cpu", NO_CC],
  ["vulkan", NO_VULKAN],
  ["emulated-metal", NO_CLANG],
  ["emulated-cuda", NO_CLANG],
] as const) {
  test(`every kernel holds against the codecs on ${device}`, { skip }, async (t) => {
    const report = await verify({ devices: [device], short: true });
    assert.ok(report.passed, reportText(report));
    const [found] = report.devices;
    const expected = kernelsOn(backendOf(device)).map(({ id }) => id);
    assert.deepEqual(found!.kernels.map(({ kernel }) => kernel).sort(), expected.sort());
    assert.deepEqual(found!.lacking, []);
    for (const { kernel, skipped } of found!.kernels) {
      if (device !== "cpu") assert.deepEqual(skipped, {}, kernel);
    }
    // The committed evidence of this device, made again: the same outputs, to the bit.
    const { compared, faults, uncompared } = compareWithEvidence(found!, true);
    assert.deepEqual(faults, []);
    t.diagnostic(`${compared} runs compared with committed evidence, ${uncompared.length} not`);
    if (device !== "vulkan" && process.arch === "x64") {
      assert.deepEqual(
        uncompared.filter((line) => !/avx512|neon/.test(line)),
        [],
      );
    }
  });
}

test("Metal and CUDA say what is missing where they cannot run", {
  skip: process.platform !== "linux" && "Linux",
}, async () => {
  const report = await verify({ devices: ["metal", "cuda"], kernels: ["turbo4"], short: true });
  assert.equal(report.passed, false);
  const [metal, cuda] = report.devices;
  assert.match(metal!.unavailable!.message, /macOS and iOS only/);
  if (cuda!.description) return; // a machine with an NVIDIA GPU
  assert.match(cuda!.unavailable!.message, /CUDA driver libcuda\.so\.1 cannot be opened/);
});

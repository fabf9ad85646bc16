// CI's short form: every kernel on every device that this machine has.
import assert from "node:assert/strict";
import { test } from "node:test";
import { KERNELS, reportText, verify } from "../src/index.ts";
import { NO_CC, NO_CLANG, NO_VULKAN } from "./devices-here.ts";

for (const [device, skip] of [
  ["cpu", NO_CC],
  ["vulkan", NO_VULKAN],
  ["emulated-metal", NO_CLANG],
  ["emulated-cuda", NO_CLANG],
] as const) {
  test(`every kernel holds against the codecs on ${device}`, { skip }, async () => {
    const report = await verify({ devices: [device], short: true });
    assert.ok(report.passed, reportText(report));
    const { kernels, lacking } = report.devices[0]!;
    assert.equal(kernels.length + lacking.length, KERNELS.length);
    if (device !== "cpu") assert.deepEqual(lacking, []);
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

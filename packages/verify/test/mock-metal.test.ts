// The messages that Metal gets, held by a stand-in for the Objective-C runtime.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import koffi from "koffi";
import type { VerifyError } from "../src/errors.ts";
import { kernelById } from "../src/kernels.ts";
import { MetalDevice } from "../src/metal/metal-device.ts";
import { inlineSource } from "../src/repository.ts";
import { NO_CC } from "./devices-here.ts";

const skip = NO_CC || (process.platform !== "linux" && "the stand-in is built for Linux");
const folder = mkdtempSync(join(tmpdir(), "eliza-mock-"));
after(() => rmSync(folder, { recursive: true, force: true }));

let log: () => string = () => "";
let owned: () => number = () => 0;
if (!skip) {
  const library = join(folder, "metal.so");
  const source = fileURLToPath(new URL("mocks/metal-runtime.c", import.meta.url));
  execFileSync("cc", [
    "-shared",
    "-fPIC",
    "-O1",
    "-Wall",
    "-Wno-address-of-packed-member",
    source,
    "-o",
    library,
  ]);
  process.env.ELIZA_METAL_LIBRARY = library;
  const mock = koffi.load(library);
  const text = mock.func("str mock_log()");
  const count = mock.func("int mock_owned()");
  log = () => text() as string;
  owned = () => count() as number;
}

const turbo4 = kernelById("turbo4_score")!;
const constants = { rows: 4, heads: 2, threads: 32 };

test("a dispatch on Metal sends its messages in order, and everything owned is released", {
  skip,
}, async () => {
  const ownedBefore = owned();
  const device = new MetalDevice();
  assert.equal(device.description.model, "Mock GPU");
  assert.equal(device.description.kind, "emulated");
  const kernel = await device.load(turbo4, constants);
  const buffers = [device.buffer(new Uint8Array(36)), device.buffer(new Float32Array(64)), device.buffer(32)];
  const milliseconds = await kernel.dispatch([5, 2, 3], buffers, Uint32Array.of(7, 1, 5, 64, 36, 36, 0), 2);
  assert.equal(milliseconds, 250);
  const length = Buffer.byteLength(inlineSource("kernels/metal/turbo4_score.metal"));
  assert.equal(
    log(),
    [
      "push",
      "constant 0 = 32 type 33",
      "constant 1 = 4 type 33",
      "constant 2 = 2 type 33",
      "string 18",
      "fast math 0",
      `string ${length}`,
      "pop 77",
      "buffer 36 options 0",
      "buffer 256 options 0",
      "buffer 32 options 0",
      "push",
      "set buffer 0 offset 0 index 0",
      "set buffer 1 offset 0 index 1",
      "set buffer 2 offset 0 index 2",
      "set bytes 7.. length 28 index 3",
      "threadgroup memory 1744 index 0",
      "dispatch 5 2 3 by 32 1 1",
      "dispatch 5 2 3 by 32 1 1",
      "pop 77",
      "",
    ].join("\n"),
  );
  for (const buffer of buffers) buffer[Symbol.dispose]();
  kernel[Symbol.dispose]();
  device[Symbol.dispose]();
  assert.equal(owned(), ownedBefore);
});

test("Metal's refusal of a source and a failed command buffer are told with its reason", {
  skip,
}, async () => {
  const setenv = koffi.load("libc.so.6").func("int setenv(str, str, int)");
  const unsetenv = koffi.load("libc.so.6").func("int unsetenv(str)");
  using device = new MetalDevice();
  setenv("MOCK_METAL_REFUSE", "1", 1);
  await assert.rejects(device.load(turbo4, constants), (error: VerifyError) => {
    assert.equal(error.code, "KERNEL_BUILD");
    assert.match(error.message, /program_source:1: error/);
    return true;
  });
  unsetenv("MOCK_METAL_REFUSE");
  using kernel = await device.load(turbo4, constants);
  setenv("MOCK_METAL_FAULT", "1", 1);
  await assert.rejects(kernel.dispatch([1, 1, 1], [], new Uint32Array(7)), (error: VerifyError) => {
    assert.equal(error.code, "KERNEL_FAULT");
    return true;
  });
  unsetenv("MOCK_METAL_FAULT");
});

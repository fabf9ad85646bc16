import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import koffi from "koffi";
import { InferenceError } from "../../src/errors.ts";
import { NativeLibrary } from "../../src/native/native-library.ts";
import { bindingLayout, checkLayout, type StructLayout } from "../../src/native/stream-config.ts";
import { libraryUnderTest } from "./engine-under-test.ts";

const path = await libraryUnderTest();

const code = (expected: string, words: RegExp) => (error: unknown) => {
  assert.ok(error instanceof InferenceError, String(error));
  assert.equal(error.code, expected);
  assert.match(error.message, words);
  assert.notEqual(error.hint, "");
  return true;
};

test("the loaded library lays the config out as this binding does: 88 bytes, context_size at 80", () => {
  const layout: StructLayout = JSON.parse(
    koffi.load(path).func("eliza_inference_config_layout", "const char *", [])(),
  );
  assert.deepEqual(layout, bindingLayout());
  assert.equal(layout.size, 88);
  assert.equal(layout.offsets.context_size, 80);
});

test("another layout is refused, and the message names each field that differs", () => {
  const layout = bindingLayout();
  const moved = { ...layout, offsets: { ...layout.offsets, top_k: 16 } };
  assert.throws(() => checkLayout(moved), code("ABI_MISMATCH", /top_k at 16 in the library, 12 here/));
  assert.throws(
    () => checkLayout({ ...layout, size: 80 }),
    code("ABI_MISMATCH", /80 bytes in the library, 88 here/),
  );
});

test("a file that is no library, or another library, is refused", async () => {
  const folder = await mkdtemp(join(tmpdir(), "library-"));
  try {
    const text = join(folder, "text.so");
    await writeFile(text, "not a library");
    assert.throws(() => NativeLibrary.load(text), code("NATIVE_LIBRARY_MISSING", /text\.so/));
    assert.throws(
      () => NativeLibrary.load(join(folder, "absent.so")),
      code("NATIVE_LIBRARY_MISSING", /absent\.so/),
    );
    const kernels = path.replace("libelizainference", "libeliza_kv");
    assert.throws(() => NativeLibrary.load(kernels), code("ABI_MISMATCH", /lacks a function/));
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("the cache types are named, llama.cpp's and ours, with their sizes", () => {
  const types = new Map(
    NativeLibrary.load(path)
      .cacheTypes()
      .map((type) => [type.name, type]),
  );
  assert.equal(types.get("f16")?.bitsPerValue, 16);
  assert.equal(types.get("q8_0")?.bitsPerValue, 8.5);
  assert.equal(types.get("q4_0")?.bitsPerValue, 4.5);
  assert.deepEqual(
    { tile: types.get("turbo4")?.tile, bytes: types.get("turbo4")?.bytesPerTile },
    { tile: 32, bytes: 18 },
  );
});

test("the table of devices has every cache type, with the head sizes that its tiles fit", () => {
  const library = NativeLibrary.load(path);
  const rows = library.deviceSupport();
  for (const { name, tile, keysOnly, needsMap } of library.cacheTypes()) {
    const headDim = needsMap ? { equal: tile } : { multipleOf: tile };
    const found = rows.find((row) => row.type === name && isDeepStrictEqual(row.headDim, headDim));
    assert.ok(found, `${name} with tiles of ${tile}`);
    assert.equal(found.device, "cpu");
    assert.deepEqual(found.sides, keysOnly ? ["K"] : ["K", "V"]);
    assert.ok(found.operations.includes("SET_ROWS") && found.operations.includes("FLASH_ATTN_EXT"), name);
  }
});

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import koffi from "koffi";
import { NATIVE_CODES, nativeError } from "../../src/native/native-error.ts";
import { libraryUnderTest, picoModel } from "./engine-under-test.ts";

const library = koffi.load(await libraryUnderTest());

test("the codes are one list: the header's table, the library's and TypeScript's", async () => {
  const header = await readFile(
    new URL("../../../../native/include/eliza-inference-ffi.h", import.meta.url),
    "utf8",
  );
  const table = [...header.matchAll(/^ +X\(([A-Z_]+), (-\d+), "(.+)"\)/gm)].map(
    ([, code, status, meaning]) => ({ code, status: Number(status), meaning }),
  );
  const told = JSON.parse(library.func("eliza_inference_error_codes", "const char *", [])());
  assert.deepEqual(told, table);
  assert.deepEqual(
    table.map(({ code }) => code),
    [...NATIVE_CODES],
  );
  assert.equal(new Set(table.map(({ status }) => status)).size, table.length, "a number each");
  assert.deepEqual(
    table.slice(0, 7).map(({ status }) => status),
    [-1, -2, -3, -4, -5, -6, -7],
    "the numbers of ELIZA_ERR_*",
  );
});

test("a code that nobody knows is a NATIVE_FAULT", () => {
  assert.equal(nativeError("SOMETHING_ELSE: it broke\nhint", -4).code, "NATIVE_FAULT");
  assert.equal(nativeError(undefined, -4).code, "NATIVE_FAULT");
});

test("*out_error is set on failure and NULL on success, whatever it held", async () => {
  const create = library.func("eliza_inference_create", "void *", ["const char *", "uint64_t *"]);
  const destroy = library.func("eliza_inference_destroy", "void", ["void *"]);
  const open = library.func("eliza_inference_llm_stream_open", "void *", ["void *", "void *", "uint64_t *"]);
  const tokens = library.func("eliza_inference_llm_stream_tokens", "int", [
    ...["void *", "void *", "void *", "uint64_t *"],
  ]);
  const stale = (): BigUint64Array => BigUint64Array.of(0x1234n);
  const found = (slot: BigUint64Array): string => koffi.decode(slot[0]!, "char", -1);

  let slot = stale();
  assert.equal(create("/no/such/model.gguf", slot), null);
  assert.match(found(slot), /^MODEL_NOT_FOUND: /);
  slot = stale();
  const context = create(picoModel, slot);
  assert.equal(slot[0], 0n);
  slot = stale();
  assert.equal(open(context, null, slot), null);
  assert.match(found(slot), /^INVALID_ARGUMENT: /);
  slot = stale();
  assert.equal(tokens(null, null, null, slot), -2);
  assert.match(found(slot), /^INVALID_ARGUMENT: an output is NULL/);
  assert.equal(create("/no/such/model.gguf", null), null, "no error was asked for");
  destroy(context);
});

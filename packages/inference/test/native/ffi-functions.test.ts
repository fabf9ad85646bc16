import assert from "node:assert/strict";
import { test } from "node:test";
import type koffi from "koffi";
import { InferenceError } from "../../src/errors.ts";
import { bindFunctions } from "../../src/native/ffi-functions.ts";
import { NativeHandle } from "../../src/native/ffi-parameter.ts";
import { bindingLayout } from "../../src/native/stream-config.ts";

const config = Object.fromEntries(
  Object.keys(bindingLayout().offsets).map((field) => [
    field,
    /cache|path|grammar|cache_type/.test(field) ? null : 0,
  ]),
);

/** A value that fits a parameter of this C type, by the order in which handles are asked for. */
const fitting: Readonly<Record<string, unknown>> = {
  "const char *": "text",
  "const uint8_t *": Buffer.from("text"),
  "uint8_t *": Buffer.alloc(8),
  int32_t: 1,
  size_t: 1,
  "int32_t *": new Int32Array(2),
  "uint64_t *": new BigUint64Array(1),
  "_Out_ void **": [null],
};

const handles = [
  new NativeHandle("context", 1n),
  new NativeHandle("stream", 2n),
  new NativeHandle("calibration", 3n),
];

/** What nobody may hand to a C function in place of a pointer, whatever its type there. */
const never = [5, 5n, undefined, Symbol("x"), { length: 3 }, () => 1, new Date(), true];

function bound(onCall: () => void) {
  const declared = new Map<string, unknown[]>();
  const native = Object.assign(
    () => {
      onCall();
      return 0;
    },
    { async: (...values: unknown[]) => (values.at(-1) as (error: null, value: number) => void)(null, 0) },
  );
  const library = {
    func: (symbol: string, _: string, types: unknown[]) => {
      declared.set(symbol.replace("eliza_inference_", ""), types);
      return native;
    },
  };
  const functions = bindFunctions(library as unknown as ReturnType<typeof koffi.load>);
  return { functions, types: [...declared.values()] };
}

/** Values that fit all parameters of a function; handles of the kind that it takes are found by trying. */
function fits(call: (...values: never[]) => unknown, types: unknown[]): unknown[] {
  for (const handle of handles) {
    const values = types.map((type) =>
      type === "void *" ? handle : typeof type === "string" ? fitting[type] : config,
    );
    try {
      call(...(values as never[]));
      return values;
    } catch {}
  }
  const values = types.map((type) => (type === "void *" ? 7n : fitting[String(type)])); // an allocation to free
  call(...(values as never[]));
  return values;
}

test("no function of the C ABI is called with a value of a wrong type in any place", () => {
  let calls = 0;
  const { functions, types } = bound(() => calls++);
  const names = Object.keys(functions);
  assert.equal(types.length, names.length);
  let refused = 0;
  for (const [index, each] of Object.values(functions).entries()) {
    const call = each.call as (...values: unknown[]) => unknown;
    const right = fits(call, types[index]!);
    const made = calls;
    for (const place of right.keys()) {
      for (const wrong of never) {
        const isFitting = typeof right[place] === "number" && wrong === 5;
        const isAllocation = typeof right[place] === "bigint" && typeof wrong === "bigint";
        if (isFitting || isAllocation) continue;
        assert.throws(
          () => call(...right.with(place, wrong)),
          (error) => error instanceof InferenceError && error.code === "INVALID_ARGUMENT",
          `${names[index]}, value ${place}, ${String(wrong)}`,
        );
        refused++;
      }
    }
    assert.throws(() => call(...right, 1), InferenceError, "a value too many");
    assert.equal(calls, made, `${names[index]} was called`);
  }
  assert.ok(refused > 400, `${refused} refused`);
});

test("a string with a NUL is refused, and so is a handle that was closed or is of another kind", () => {
  const { functions } = bound(() => assert.fail("it was called"));
  const context = new NativeHandle("context", 1n);
  assert.throws(() => functions.create.call("a\0b", [null]), /NUL/);
  const stream = new NativeHandle("stream", 2n);
  stream.release();
  assert.throws(() => functions.cancel.call(stream), /a stream that was closed/);
  assert.throws(() => functions.cancel.call(context as never), /not a stream/);
});

test("every field of the config has its type", () => {
  const { functions } = bound(() => assert.fail("it was called"));
  const context = new NativeHandle("context", 1n);
  for (const field of Object.keys(config)) {
    for (const wrong of [7n, true, "\0", {}, ...(config[field] === null ? [3] : ["3", 1e12])]) {
      if (field.match(/temperature|top_p|repeat/) && wrong === 1e12) continue;
      assert.throws(
        () => functions.open.call(context, { ...config, [field]: wrong } as never, "", [null]),
        new RegExp(`whose ${field} is`),
      );
    }
  }
});

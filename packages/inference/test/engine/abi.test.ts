import assert from "node:assert/strict";
import { after, afterEach, before, describe, test } from "node:test";
import { InferenceError } from "../../src/errors.ts";
import { type ContextHandle, NativeLibrary, type StreamHandle } from "../../src/native/native-library.ts";
import type { StreamConfig } from "../../src/native/stream-config.ts";
import { readToEnd, streamConfig } from "./abi-streams.ts";
import { libraryUnderTest, picoModel } from "./engine-under-test.ts";

const code =
  (expected: string, words = /./) =>
  (error: unknown) => {
    assert.ok(error instanceof InferenceError, String(error));
    assert.equal(error.code, expected, error.message);
    assert.match(error.message, words);
    return true;
  };

describe("the C ABI", () => {
  const library = new Promise<NativeLibrary>((resolve) =>
    resolve(libraryUnderTest().then(NativeLibrary.load)),
  );
  let abi: NativeLibrary;
  let context: ContextHandle;
  const streams: StreamHandle[] = [];
  before(async () => {
    abi = await library;
    context = abi.create(picoModel);
  });
  afterEach(async () => {
    for (const stream of streams.splice(0)) await abi.close(stream);
  });
  after(() => abi.destroy(context));

  const open = async (over: Partial<StreamConfig> = {}, options: Record<string, unknown> = {}) => {
    const stream = await abi.open(context, { ...streamConfig, ...over }, options);
    streams.push(stream);
    return stream;
  };
  const ids = (stream: StreamHandle, text: string) =>
    abi.tokenize(stream, text, { addSpecial: true, parseSpecial: true });
  const read = (stream: StreamHandle) => readToEnd(abi, context, stream);
  const prompt = "Once upon a time there was a small house by the sea, and in it";

  test("prefills before the first next make one prompt", async () => {
    const whole = await open();
    const all = ids(whole, prompt);
    abi.prefill(whole, all);
    const parts = await open();
    for (const [from, to] of [
      [0, 1],
      [1, 9],
      [9, all.length],
    ]) {
      abi.prefill(parts, all.subarray(from, to));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    assert.deepEqual(await read(parts), await read(whole));
  });

  test("a prompt that was asked for takes no more tokens, nor does a running generation", async () => {
    const ahead = await open({ max_tokens: 200 }, { run_ahead: true });
    abi.prefill(ahead, ids(ahead, prompt));
    assert.throws(() => abi.prefill(ahead, ids(ahead, "more")), code("INVALID_ARGUMENT"));
  });

  test("a finished generation goes on from where it ended", async () => {
    const once = await open({ max_tokens: 6 });
    const all = ids(once, prompt);
    abi.prefill(once, all);
    const first = await read(once);
    const next = ids(once, " and then").filter((id) => id !== all[0]);
    abi.prefill(once, next);
    const second = await read(once);
    const fresh = await open({ max_tokens: 6 });
    abi.prefill(fresh, Int32Array.from([...all, ...first, ...next]));
    assert.deepEqual(second, await read(fresh));
  });

  test("reset_keep keeps a prefix, reset nothing; both lift a cancellation", async () => {
    const stream = await open();
    const all = ids(stream, prompt);
    abi.prefill(stream, all);
    const answer = await read(stream);
    const keep = Math.floor(all.length / 2);
    assert.equal(await abi.resetKeep(stream, keep), keep);
    abi.prefill(stream, all.subarray(keep));
    assert.deepEqual(await read(stream), answer);
    assert.equal(await abi.resetKeep(stream, 10_000), all.length + answer.length - 1);

    abi.cancel(stream);
    assert.throws(() => abi.tryNext(stream), code("CANCELLED"));
    assert.throws(() => abi.prefill(stream, all), code("CANCELLED"));
    await abi.reset(stream);
    abi.prefill(stream, all);
    assert.deepEqual(await read(stream), answer);
  });

  test("nothing to generate from, tokens that are none, an empty prompt", async () => {
    const stream = await open();
    assert.throws(() => abi.tryNext(stream), code("INVALID_ARGUMENT", /nothing to generate/));
    assert.throws(() => abi.prefill(stream, new Int32Array(0)), code("INVALID_ARGUMENT", /empty/));
    assert.throws(() => abi.prefill(stream, Int32Array.of(1, -5)), code("INVALID_ARGUMENT", /token 1 is -5/));
    assert.throws(() => abi.prefill(stream, Int32Array.of(2 ** 30)), code("INVALID_ARGUMENT", /token 0/));
    assert.throws(() => abi.detokenize(stream, Int32Array.of(-1), false), code("INVALID_ARGUMENT"));
  });

  test("an option that is unknown or out of range is an error that names it", async () => {
    await assert.rejects(open({}, { sed: 1 }), code("INVALID_ARGUMENT", /"sed"/));
    await assert.rejects(open({}, { seed: -1 }), code("INVALID_ARGUMENT", /seed is -1/));
    await assert.rejects(open({}, { threads: "two" }), code("INVALID_ARGUMENT", /threads/));
    await assert.rejects(open({}, { run_ahead: 1 }), code("INVALID_ARGUMENT", /run_ahead/));
    await assert.rejects(open({ context_size: -4 }), code("INVALID_ARGUMENT", /context_size/));
  });

  test("what is not there yet says so", async () => {
    await assert.rejects(
      open({ gbnf_grammar: "root ::= x" }),
      code("INVALID_ARGUMENT", /grammar.*Undefined rule/),
    );
    const held = await open({ gbnf_grammar: 'root ::= "yes" [.]', max_tokens: 9 });
    abi.prefill(held, Int32Array.of(1, 300));
    assert.equal(abi.detokenize(held, Int32Array.from(await read(held)), false), "yes.");
    await assert.rejects(open({ mtp_drafter_path: "x" }), code("NOT_IMPLEMENTED"));
    await assert.rejects(open({ slot_id: 3 }), code("NOT_IMPLEMENTED", /slot_id/));
    await assert.rejects(open({ prompt_cache_key: "k" }), code("NOT_IMPLEMENTED"));
  });

  test("a loaded model keeps its n_gpu_layers", async () => {
    await open();
    await assert.rejects(open({ n_gpu_layers: -1 }), code("INVALID_ARGUMENT", /n_gpu_layers 0, not -1/));
  });

  test("a runtime that was asked for and is not there is an error, never llama.cpp in silence", async () => {
    process.env.ELIZA_LLM_BACKEND = "litert-lm";
    try {
      await assert.rejects(open(), code("BACKEND_UNAVAILABLE", /litert-lm/));
      process.env.ELIZA_LLM_BACKEND = "LLAMA.CPP";
      const { candidates } = (await abi.report(await open())) as { candidates: { chosen: boolean }[] };
      assert.deepEqual(
        candidates.filter(({ chosen }) => chosen),
        [{ runtime: "llama.cpp", chosen: true, reason: "asked for by ELIZA_LLM_BACKEND" }],
      );
    } finally {
      delete process.env.ELIZA_LLM_BACKEND;
    }
  });
});

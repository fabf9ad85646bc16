import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { InferenceError } from "../../src/errors.ts";
import { Inference } from "../../src/inference.ts";
import { libraryUnderTest, picoModel } from "./engine-under-test.ts";

const libraryPath = await libraryUnderTest();
const UBATCH = 64;
const LONG = "the keeper of the light walks down to the sea and ".repeat(600);

const cancelled = (reason: unknown) => (error: unknown) => {
  assert.ok(error instanceof InferenceError, String(error));
  assert.equal(error.code, "CANCELLED");
  assert.equal(error.cause, reason);
  return true;
};

describe("cancellation", () => {
  let inference: Inference;
  before(async () => {
    inference = await Inference.open(picoModel, {
      libraryPath,
      contextSize: 8192,
      ubatchSize: UBATCH,
    });
  });
  after(() => inference.close());

  test("in the middle of a prefill of 6,000 tokens, no further ubatch is begun", async () => {
    const ids = await inference.tokenize(LONG);
    const prompt = await inference.detokenize(ids.subarray(0, 6000));
    const abort = new AbortController();
    const stream = inference.stream(prompt, { maxTokens: 4, signal: abort.signal });
    const first = stream.next();
    first.catch(() => undefined);
    let before = 0;
    while (before === 0) {
      before = await stream.report().then(
        (report) => report.context.used,
        () => 0, // not open yet
      );
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    const reason = new Error("enough");
    abort.abort(reason);
    await assert.rejects(first, cancelled(reason));
    const { used } = (await stream.report()).context;
    assert.ok(before < 6000, `the prefill was over at the first look: ${before}`);
    assert.ok(used < 6000, `all of it was computed: ${used}`);
    assert.equal(used % UBATCH, 0);
    assert.equal((await stream.report()).finishReason, "cancelled");
  });

  test("in the middle of one batch of 4,000 tokens, it is left where it is", async () => {
    await using other = await Inference.open(picoModel, {
      ...{ libraryPath, contextSize: 8192, batchSize: 4096, ubatchSize: 4096 },
    });
    const prompt = await other.detokenize((await other.tokenize(LONG)).subarray(0, 4000));
    const abort = new AbortController();
    const stream = other.stream(prompt, { maxTokens: 4, signal: abort.signal });
    const first = stream.next();
    first.catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 200));
    abort.abort();
    await assert.rejects(first, (error: unknown) => (error as InferenceError).code === "CANCELLED");
    assert.equal((await stream.report()).context.used, 0);
    assert.ok((await other.stream("Once upon a time", { maxTokens: 4 }).text()).length > 0);
  });

  test("a signal that is aborted already runs nothing", async () => {
    const reason = new Error("no");
    const stream = inference.stream("x", { signal: AbortSignal.abort(reason) });
    await assert.rejects(stream.next(), cancelled(reason));
  });

  test("between tokens, and the model goes on", async () => {
    const abort = new AbortController();
    const stream = inference.stream("Once upon a time", {
      maxTokens: 4000,
      temperature: 1.5,
      seed: 1,
      signal: abort.signal,
    });
    await assert.rejects(async () => {
      for await (const chunk of stream) if (chunk) abort.abort("stop");
    }, cancelled("stop"));
    assert.ok((await inference.stream("Once upon a time", { maxTokens: 4 }).text()).length > 0);
  });

  test("closing the model ends its running streams", async () => {
    const other = await Inference.open(picoModel, { libraryPath, contextSize: 512 });
    const stream = other.stream("Once upon a time", { maxTokens: 500, temperature: 1.5, seed: 2 });
    await stream.next();
    const ended = assert.rejects(
      stream.text(),
      (error: unknown) => error instanceof InferenceError && error.code === "CANCELLED",
    );
    await other.close();
    await ended;
    await assert.rejects(other.stream("x").next(), (error: unknown) => error instanceof InferenceError);
  });
});

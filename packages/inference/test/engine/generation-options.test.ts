import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { InferenceError } from "../../src/errors.ts";
import { type ContextHandle, NativeLibrary, type StreamHandle } from "../../src/native/native-library.ts";
import type { StreamReport } from "../../src/report.ts";
import { readToEnd, streamConfig } from "./abi-streams.ts";
import { libraryUnderTest, picoModel } from "./engine-under-test.ts";

const library = NativeLibrary.load(await libraryUnderTest());
const model = picoModel;
type Generation = Pick<StreamReport, "timing"> & { finishReason: string; stopSequence: string | null };

describe("a model, without a stream", () => {
  test("is loaded with progress, tokenizes and reports from any thread", async () => {
    const context = library.create(model);
    await assert.rejects(
      library.tokenizeModel(context, "x", { addSpecial: false, parseSpecial: false }),
      (error: InferenceError) => error.code === "MODEL_NOT_LOADED",
    );
    assert.equal(library.loadProgress(context), 0);
    await library.loadModel(context, 0);
    assert.equal(library.loadProgress(context), 1);
    await library.loadModel(context, 0);
    const stream = await library.open(context, streamConfig, {});
    for (const text of ["Once upon a time", "<|im_end|> naïve 漢字 👩‍🚀", "a\0b", "word ".repeat(20_000)]) {
      for (const parseSpecial of [false, true]) {
        const options = { addSpecial: true, parseSpecial };
        const ids = await library.tokenizeModel(context, text, options);
        assert.deepEqual(ids, library.tokenize(stream, text, options));
        assert.equal(
          await library.detokenizeModel(context, ids, true),
          library.detokenize(stream, ids, true),
        );
      }
    }
    const whole = (await library.report(stream)) as StreamReport;
    const { controlTokens, ...described } = (
      library.modelReport(context) as { model: StreamReport["model"] & { controlTokens: { text: string }[] } }
    ).model;
    assert.deepEqual(described, whole.model);
    assert.ok(controlTokens.some(({ text }) => text === described.eosToken));
    assert.ok(whole.context.threads >= 1 && /affinity|machine|quota/.test(whole.context.threadsReason));
    await library.close(stream);
    await library.destroy(context);
  });

  test("whose load is cancelled can be loaded again", async () => {
    const context = library.create(model);
    library.cancelLoad(context);
    await assert.rejects(
      library.loadModel(context, 0),
      (error: InferenceError) => error.code === "CANCELLED",
    );
    await library.loadModel(context, 0);
    library.cancelLoad(context);
    await library.loadModel(context, 0);
    await library.destroy(context);
  });
});

describe("the generations of a stream", () => {
  let context: ContextHandle;
  let stream: StreamHandle;
  let prompt: Int32Array;
  before(async () => {
    context = library.create(model);
    stream = await library.open(context, { ...streamConfig, max_tokens: 24 }, { seed: 1, threads: 1 });
    prompt = library.tokenize(stream, "Once upon a time there was a", {
      addSpecial: true,
      parseSpecial: false,
    });
  });
  after(async () => {
    await library.close(stream);
    await library.destroy(context);
  });
  const again = async (options?: Record<string, unknown>): Promise<number[]> => {
    await library.reset(stream);
    if (options) library.configure(stream, options);
    library.prefill(stream, prompt);
    return readToEnd(library, context, stream);
  };
  const generation = () => library.generationReport(stream) as Generation;
  const text = (ids: number[]) => library.detokenize(stream, Int32Array.from(ids), false);

  test("have options of their own, which the next ones do not inherit", async () => {
    const greedy = await again();
    const short = await again({ max_tokens: 3 });
    assert.deepEqual(short, greedy.slice(0, 3));
    assert.equal(generation().finishReason, "length");
    const drawn = await again({ temperature: 1.5, seed: 7 });
    assert.notDeepEqual(drawn, greedy);
    assert.deepEqual(await again({ temperature: 1.5, seed: 7 }), drawn, "a seed repeats its draws");
    assert.notDeepEqual(await again({ temperature: 1.5, seed: 8 }), drawn);
    assert.deepEqual(await again({ temperature: 1.5, seed: 7, top_k: 1 }), greedy);
    assert.deepEqual(await again({}), greedy, "as it was opened");
  });

  test("without a seed the draws go on", async () => {
    library.configure(stream, { temperature: 2, seed: 3 });
    await library.reset(stream);
    library.configure(stream, { temperature: 2, seed: 3, max_tokens: 8 });
    library.prefill(stream, prompt);
    const first = await readToEnd(library, context, stream);
    library.configure(stream, { temperature: 2, max_tokens: 8 });
    library.prefill(stream, Int32Array.of(prompt[1]!));
    const second = await readToEnd(library, context, stream);
    await library.reset(stream);
    library.configure(stream, { temperature: 2, seed: 3, max_tokens: 8 });
    library.prefill(stream, prompt);
    assert.deepEqual(await readToEnd(library, context, stream), first);
    library.configure(stream, { temperature: 2, max_tokens: 8 });
    library.prefill(stream, Int32Array.of(prompt[1]!));
    assert.deepEqual(await readToEnd(library, context, stream), second);
  });

  test("end before a stop string, also one that spans tokens", async () => {
    const whole = text(await again({}));
    for (const [from, length] of [
      [5, 1],
      [7, 9],
      [11, 24],
    ] as const) {
      const stop = whole.slice(from, from + length);
      await library.reset(stream);
      library.configure(stream, { stop: ["\u0001never", stop] });
      library.prefill(stream, prompt);
      let got = "";
      for (;;) {
        const result = library.tryNext(stream);
        if (result.state === "pending") {
          await library.poll(context, 1000);
          continue;
        }
        got += result.text;
        if (result.state === "final") break;
      }
      const [said, expected] = [got.trimStart(), whole.slice(0, whole.indexOf(stop)).trimStart()];
      assert.equal(said, expected);
      assert.deepEqual([generation().finishReason, generation().stopSequence], ["stop", stop]);
    }
    await again({});
    assert.equal(generation().stopSequence, null);
  });

  test("say how they ended, never nothing", async () => {
    await library.reset(stream);
    assert.equal(generation().finishReason, "none");
    library.configure(stream, { max_tokens: 400 });
    library.prefill(stream, prompt);
    assert.equal(generation().finishReason, "running");
    while (library.tryNext(stream).state === "pending") await library.poll(context, 1000);
    assert.throws(() => library.configure(stream, {}), /a generation is running/);
    library.cancel(stream);
    assert.equal(generation().finishReason, "cancelled");
    await library.reset(stream);
    library.configure(stream, {});
    const { kv, context: room } = (await library.cacheReport(stream)) as StreamReport;
    const whole = (await library.report(stream)) as StreamReport;
    assert.deepEqual([kv, room], [whole.kv, whole.context]);
  });

  test("refuse options that mean nothing", () => {
    for (const [options, words] of [
      [{ sed: 1 }, /"sed" is not known/],
      [{ temperature: "warm" }, /temperature is "warm"/],
      [{ seed: -1 }, /seed is -1/],
      [{ stop: [""] }, /stop is/],
      [{ stop: "x" }, /stop is "x"/],
      [{ stop: Array(17).fill("x") }, /stop is/],
    ] as const) {
      assert.throws(
        () => library.configure(stream, options),
        (error: InferenceError) => error.code === "INVALID_ARGUMENT" && words.test(error.message),
      );
    }
  });
});

import assert from "node:assert/strict";
import { after, afterEach, before, describe, test } from "node:test";
import { InferenceError } from "../../src/errors.ts";
import type { ContextHandle, NativeLibrary, StreamHandle } from "../../src/native/native-library.ts";
import type { StreamConfig } from "../../src/native/stream-config.ts";
import type { StreamReport } from "../../src/report.ts";
import { streamConfig } from "../engine/abi-streams.ts";

/** A runtime that is held to what every runtime must do. */
export interface Subject {
  /** its name, as a report gives it */
  runtime: string;
  library: NativeLibrary;
  /** a bundle that it serves */
  bundle: string;
  /** a text with characters of several bytes, after which and after whose first 8 tokens it generates 12 tokens and more */
  prompt?: string;
  /** why it cannot be had here; left out or false: it can */
  skip?: string | false;
  /** runs around the whole suite */
  environment?: () => () => void;
}

const SOME_PROMPT = "Once upon a time there was a café by the sea, and in it 漢字 🚀";

const refusal =
  (code: string, words = /./) =>
  (error: unknown): boolean => {
    assert.ok(error instanceof InferenceError, String(error));
    assert.equal(error.code, code, error.message);
    assert.match(error.message, words);
    assert.notEqual(error.hint, "");
    return true;
  };

interface Answer {
  tokens: number[];
  text: string;
  chunks: string[];
}

/** The same tests for every runtime; what a runtime declares not to be able to do must be refused by its name. */
export function conformance(subject: Subject): void {
  describe(`conformance of ${subject.runtime}`, { skip: subject.skip }, () => {
    const { library, prompt: PROMPT = SOME_PROMPT } = subject;
    let context: ContextHandle;
    let restore: (() => void) | undefined;
    let capabilities: string[] = [];
    const streams: StreamHandle[] = [];

    before(async () => {
      restore = subject.environment?.();
      context = library.create(subject.bundle);
      const stream = await open();
      capabilities = (await report(stream)).capabilities;
    });
    afterEach(async () => {
      for (const stream of streams.splice(0)) await library.close(stream);
    });
    after(async () => {
      await library.destroy(context);
      restore?.();
    });

    const open = async (over: Partial<StreamConfig> = {}, options: Record<string, unknown> = {}) => {
      const config = { ...streamConfig, context_size: 256, ...over };
      const stream = await library.open(context, config, { runtime: subject.runtime, ...options });
      streams.push(stream);
      return stream;
    };
    const report = async (stream: StreamHandle) => (await library.report(stream)) as StreamReport;
    const ids = (stream: StreamHandle, text = PROMPT) =>
      library.tokenize(stream, text, { addSpecial: true, parseSpecial: false });
    const read = async (stream: StreamHandle): Promise<Answer> => {
      const answer: Answer = { tokens: [], text: "", chunks: [] };
      for (;;) {
        const next = library.tryNext(stream);
        if (next.state === "pending") {
          await library.poll(context, 10_000);
          continue;
        }
        answer.tokens.push(...next.tokens);
        answer.text += next.text;
        answer.chunks.push(next.text);
        if (next.state === "final") return answer;
      }
    };
    const answerTo = async (stream: StreamHandle, prompt: Int32Array): Promise<Answer> => {
      library.prefill(stream, prompt);
      return await read(stream);
    };
    const can = (capability: string): boolean => capabilities.includes(capability);

    test("nothing to generate from, no prompt, tokens that are none", async () => {
      const stream = await open();
      assert.throws(() => library.tryNext(stream), refusal("INVALID_ARGUMENT", /nothing to generate/));
      assert.throws(() => library.prefill(stream, new Int32Array(0)), refusal("INVALID_ARGUMENT", /empty/));
      assert.throws(
        () => library.prefill(stream, Int32Array.of(1, -5)),
        refusal("INVALID_ARGUMENT", /token 1 is -5/),
      );
      assert.throws(
        () => library.prefill(stream, Int32Array.of(2 ** 30)),
        refusal("INVALID_ARGUMENT", /token 0/),
      );
    });

    test("prefills before the first next make one prompt", async () => {
      const whole = await open();
      const prompt = ids(whole);
      const expected = await answerTo(whole, prompt);
      const parts = await open();
      for (const [from, to] of [
        [0, 1],
        [1, 5],
        [5, prompt.length],
      ]) {
        library.prefill(parts, prompt.subarray(from, to));
      }
      assert.deepEqual((await read(parts)).tokens, expected.tokens);
      assert.equal(expected.tokens.length, 12);
    });

    test("a running generation takes no prompt", async () => {
      const stream = await open({ max_tokens: 100 }, { run_ahead: true, queue_size: 4 });
      library.prefill(stream, ids(stream));
      assert.throws(() => library.prefill(stream, ids(stream)), refusal("INVALID_ARGUMENT"));
    });

    test("a finished generation goes on from where it ended", async () => {
      const stream = await open({ max_tokens: 6 });
      const prompt = ids(stream);
      const first = await answerTo(stream, prompt);
      const more = library.tokenize(stream, " and then", { addSpecial: false, parseSpecial: false });
      const second = await answerTo(stream, more);
      const fresh = await open({ max_tokens: 6 });
      const all = Int32Array.from([...prompt, ...first.tokens, ...more]);
      assert.deepEqual(second.tokens, (await answerTo(fresh, all)).tokens);
    });

    test("text and ids agree, and text is whole characters", async () => {
      const stream = await open({ max_tokens: 120 });
      const { tokens, text, chunks } = await answerTo(stream, ids(stream));
      // Only the end may cut a character off.
      for (const chunk of chunks.slice(0, -1)) assert.ok(!chunk.includes("\uFFFD"), JSON.stringify(chunk));
      if (!can("detokenize")) return;
      const told = library.detokenize(stream, Int32Array.from(tokens), false);
      assert.equal(told.trimStart(), text.trimStart());
    });

    test("a text comes back from its own tokens", async (t) => {
      if (!can("tokenize") || !can("detokenize")) return t.skip("it has no tokenizer of its own");
      const stream = await open();
      const plain = library.tokenize(stream, PROMPT, { addSpecial: false, parseSpecial: false });
      assert.equal(library.detokenize(stream, plain, false), PROMPT);
      assert.throws(() => library.detokenize(stream, Int32Array.of(-1), false), refusal("INVALID_ARGUMENT"));
    });

    test("cancel is told at once, at every point, and holds until reset", async () => {
      const stream = await open({ max_tokens: 100 });
      const prompt = ids(stream);
      const expected = (await answerTo(stream, prompt)).tokens;
      const points: Record<string, () => Promise<void>> = {
        "before a prompt": async () => undefined,
        "after a prompt": async () => library.prefill(stream, prompt),
        "in the middle": async () => {
          library.prefill(stream, prompt);
          while (library.tryNext(stream).state === "pending") await library.poll(context, 10_000);
        },
        "after the end": async () => {
          await answerTo(stream, prompt);
        },
      };
      for (const [point, reach] of Object.entries(points)) {
        await library.reset(stream);
        await reach();
        library.cancel(stream);
        library.cancel(stream);
        assert.throws(() => library.tryNext(stream), refusal("CANCELLED"), point);
        assert.throws(() => library.prefill(stream, prompt), refusal("CANCELLED"), point);
      }
      await library.reset(stream);
      assert.deepEqual((await answerTo(stream, prompt)).tokens, expected);
    });

    test("limits: tokens asked for, the context, a queue of one", async () => {
      for (const max_tokens of [1, 2, 7]) {
        const stream = await open({ max_tokens });
        assert.equal((await answerTo(stream, ids(stream))).tokens.length, max_tokens);
        assert.equal((await report(stream)).finishReason, "length");
      }
      const small = await open({ max_tokens: 0, context_size: 96 }, { queue_size: 1 });
      const prompt = ids(small);
      const { tokens } = await answerTo(small, prompt);
      const { finishReason } = await report(small);
      assert.ok(finishReason === "context" || finishReason === "stop", finishReason);
      if (finishReason === "context") assert.equal(prompt.length + tokens.length, 96);
      const full = await open({ context_size: 32 });
      assert.throws(
        () => library.prefill(full, new Int32Array(32).fill(prompt[0]!)),
        refusal("CONTEXT_FULL"),
      );
      assert.equal((await answerTo(full, prompt.subarray(0, 8))).tokens.length, 12);
    });

    test("reset forgets, reset_keep keeps a prefix or says 0", async () => {
      const stream = await open();
      const prompt = ids(stream);
      const expected = (await answerTo(stream, prompt)).tokens;
      await library.reset(stream);
      assert.deepEqual((await answerTo(stream, prompt)).tokens, expected);
      const half = Math.floor(prompt.length / 2);
      const kept = await library.resetKeep(stream, half);
      assert.equal(kept, can("reset-keep") ? half : 0);
      assert.deepEqual((await answerTo(stream, prompt.subarray(kept))).tokens, expected);
      assert.equal(await library.resetKeep(stream, -3), 0);
      assert.deepEqual((await answerTo(stream, prompt)).tokens, expected);
    });

    test("two streams at once answer as each does alone", async () => {
      const prompts = [PROMPT, "Another story begins in the mountains"];
      const alone: number[][] = [];
      for (const prompt of prompts) {
        const stream = await open({ max_tokens: 40 });
        alone.push((await answerTo(stream, ids(stream, prompt))).tokens);
      }
      const both = await Promise.all(prompts.map(() => open({ max_tokens: 40 }, { run_ahead: true })));
      for (const [i, stream] of both.entries()) library.prefill(stream, ids(stream, prompts[i]));
      const found: number[][] = [[], []];
      const going = new Set([0, 1]);
      while (going.size > 0) {
        for (const i of [...going]) {
          const next = library.tryNext(both[i]!);
          if (next.state === "pending") await library.poll(context, 100);
          else {
            found[i]!.push(...next.tokens);
            if (next.state === "final") going.delete(i);
          }
        }
      }
      assert.deepEqual(found, alone);
    });

    test("closing in the middle lets the context go on", async () => {
      const closed = await open({ max_tokens: 200 }, { run_ahead: true });
      library.prefill(closed, ids(closed));
      const stream = await open();
      const expected = (await answerTo(stream, ids(stream))).tokens;
      streams.splice(streams.indexOf(closed), 1);
      await library.close(closed);
      const after = await open();
      assert.deepEqual((await answerTo(after, ids(after))).tokens, expected);
    });

    test("what it lists it can do, what it does not list is refused by name", async () => {
      const stream = await open();
      const prompt = ids(stream);
      const answer = await answerTo(stream, prompt);
      const refused = (capability: string) =>
        refusal("NOT_IMPLEMENTED", new RegExp(`capability ${capability}`));
      if (can("tokens")) {
        const held = Array.from(await library.tokens(stream));
        assert.deepEqual(held.slice(0, prompt.length), Array.from(prompt));
        assert.deepEqual(held.slice(prompt.length), answer.tokens.slice(0, held.length - prompt.length));
      } else {
        await assert.rejects(library.tokens(stream), refused("tokens"));
      }
      if (!can("slots")) {
        await assert.rejects(library.saveSlot(stream, "never.slot"), refused("slots"));
        await assert.rejects(library.restoreSlot(stream, "never.slot"), refused("slots"));
      }
      const asking: [string, Partial<StreamConfig>, Record<string, unknown>][] = [
        ["kv-types", { cache_type_k: "q8_0" }, {}],
        ["grammar", { gbnf_grammar: 'root ::= "x"' }, {}],
        ["prompt-cache", { slot_id: 3 }, {}],
        ["speculative", { draft_max: 4 }, {}],
        ["shared-cache", {}, { max_streams: 2 }],
      ];
      for (const [capability, config, options] of asking) {
        if (can(capability)) await open(config, options);
        else
          await assert.rejects(open(config, options), (error: unknown) => {
            assert.ok(error instanceof InferenceError);
            assert.match(error.code, /^(NOT_IMPLEMENTED|BACKEND_UNAVAILABLE)$/);
            assert.match(error.message, new RegExp(`capability ${capability}`));
            return true;
          });
      }
    });

    test("the report says what answered, what it can do and what it took", async () => {
      const stream = await open({ max_tokens: 9 });
      const prompt = ids(stream);
      await answerTo(stream, prompt);
      const found = await report(stream);
      assert.equal(found.runtime, subject.runtime);
      assert.deepEqual(
        found.candidates.filter(({ chosen }) => chosen).map(({ runtime }) => runtime),
        [subject.runtime],
      );
      assert.equal(found.context.size, 256);
      assert.equal(found.timing.promptTokens, prompt.length);
      assert.equal(found.timing.decodeTokens, 9);
      assert.equal(found.finishReason, "length");
      assert.ok(found.timing.timeToFirstTokenMs > 0);
      assert.deepEqual(Object.keys(found.speculation), ["accepted", "drafted"]);
      assert.ok(found.speculation.accepted <= found.speculation.drafted);
    });

    test("other options for the next generation: fewer tokens, a stop string, none while one runs", async () => {
      const stream = await open({ max_tokens: 10 }, { run_ahead: true, queue_size: 2 });
      const prompt = ids(stream);
      const { tokens, text } = await answerTo(stream, prompt);
      await library.reset(stream);
      library.configure(stream, { max_tokens: 3 });
      assert.deepEqual((await answerTo(stream, prompt)).tokens, tokens.slice(0, 3));
      await library.reset(stream);
      const stop = [...text.trim()].slice(2, 5).join("");
      library.configure(stream, { stop: [stop] });
      assert.equal((await answerTo(stream, prompt)).text, text.slice(0, text.indexOf(stop)));
      const { finishReason, stopSequence } = library.generationReport(stream);
      assert.deepEqual([finishReason, stopSequence], ["stop", stop]);
      await library.reset(stream);
      library.configure(stream, {});
      library.prefill(stream, prompt);
      assert.throws(() => library.configure(stream, {}), refusal("INVALID_ARGUMENT"));
      assert.deepEqual((await read(stream)).tokens, tokens);
    });

    test("an option that is not known is an error that names it", async () => {
      await assert.rejects(open({}, { sed: 1 }), refusal("INVALID_ARGUMENT", /"sed"/));
    });
  });
}

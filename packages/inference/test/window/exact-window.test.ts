import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Inference, InferenceError, type OpenOptions, type Session } from "../../src/index.ts";
import { NativeLibrary } from "../../src/native/native-library.ts";
import { streamConfig } from "../engine/abi-streams.ts";
import { libraryUnderTest, picoModel } from "../engine/engine-under-test.ts";
import { writeTinyModel } from "../map/tiny-model.ts";

const libraryPath = await libraryUnderTest();
const model = picoModel;
const story = "Once upon a time there was a small house by the sea, and in it lived";

describe("the exact window of an open model", () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "eliza-exact-"));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const open = (options: OpenOptions, path = model) =>
    Inference.open(path, { libraryPath, contextSize: 512, threads: 1, kvMap: "off", ...options });
  const coded = { cacheTypeK: "q4_0", cacheTypeV: "turbo3_tcq" };

  async function say(session: Session, text: string): Promise<number[]> {
    const tokens: number[] = [];
    for await (const piece of session.generate(text)) tokens.push(...piece.tokens);
    return tokens;
  }

  test("is there where a side is coded, takes its bytes, and is in what was computed beforehand", async () => {
    await using plain = await open({ ...coded, exactTokens: 0, exactSinks: 0 });
    await using window = await open(coded);
    const [before, kv] = [plain.report().kv, window.report().kv];
    assert.deepEqual([kv.exact.tokens, kv.exact.sinks, kv.exact.reason], [128, 4, null]);
    assert.deepEqual(
      [before.exact.tokens, before.exact.sinks, before.exact.bytes, before.exact.reason],
      [0, 0, 0, "turned off"],
    );
    const layers = kv.caches.flatMap((cache) => cache.layers);
    const row = layers.reduce((sum, layer) => sum + layer.kvHeads * (layer.headDimK + layer.headDimV) * 2, 0);
    assert.ok(kv.exact.rowsPerStream >= 132 && kv.exact.rowsPerStream < 160, String(kv.exact.rowsPerStream));
    assert.equal(kv.exact.bytes, row * kv.exact.rowsPerStream);
    assert.equal(kv.bytesComputed - before.bytesComputed, kv.exact.bytes);
    assert.ok(Math.abs(kv.bytesTotal - kv.bytesComputed) < 1e-3 * kv.bytesTotal);
    await using half = await open({ cacheTypeV: "q8_0" });
    assert.equal(half.report().kv.exact.tokens, 128, "one coded side is enough");
    await using uncoded = await open({});
    assert.equal(uncoded.report().kv.exact.reason, "neither K nor V is coded");
  });

  test("is at most the context, and refused below none", async () => {
    await using all = await open({ ...coded, exactTokens: 2 ** 31 - 1, exactSinks: 2 ** 31 - 1 });
    const { exact } = all.report().kv;
    assert.deepEqual([exact.tokens, exact.sinks, exact.rowsPerStream], [512, 512, 512]);
    const library = NativeLibrary.load(libraryPath);
    const context = library.create(model);
    try {
      for (const options of [{ exact_tokens: -1 }, { exact_sinks: 2 ** 31 }, { exact_tokens: 0.5 }]) {
        await assert.rejects(
          library.open(context, { ...streamConfig, cache_type_k: "q4_0" }, options),
          (error: unknown) => error instanceof InferenceError && error.code === "INVALID_ARGUMENT",
        );
      }
    } finally {
      await library.destroy(context);
    }
  });

  for (const [saved, restored] of [
    [{}, {}],
    [
      { exactTokens: 16, exactSinks: 2 },
      { exactTokens: 16, exactSinks: 2 },
    ],
  ] as const) {
    test(`a restored sequence goes on with the same tokens: ${JSON.stringify(saved)}`, async () => {
      const slot = join(folder, "a.slot");
      await using first = await open({ ...coded, ...saved });
      const original = await first.session({ maxTokens: 24 });
      await say(original, story);
      await original.save(slot);
      const next = await say(original, " and then");
      await using second = await open({ ...coded, ...restored, maxStreams: 3 });
      await using other = await second.session({ maxTokens: 4 });
      await say(other, "Something else");
      const session = await second.session({ maxTokens: 24 });
      await session.restore(slot);
      assert.deepEqual(await say(session, " and then"), next);
    });
  }

  test("a slot of another window is taken with the rows that there is room for", async () => {
    const slot = join(folder, "b.slot");
    const windows = [{ exactTokens: 0, exactSinks: 0 }, { exactTokens: 16, exactSinks: 0 }, {}];
    for (const from of windows) {
      await using first = await open({ ...coded, ...from });
      const original = await first.session({ maxTokens: 24 });
      await say(original, story);
      const held = await original.save(slot);
      for (const to of windows) {
        await using second = await open({ ...coded, ...to });
        const session = await second.session({ maxTokens: 4 });
        assert.equal(await session.restore(slot), held);
        assert.equal((await say(session, " and then")).length, 4);
      }
    }
  });

  test("a sequence that went back goes on as one that was never further", async () => {
    await using inference = await open(coded);
    const straight = await inference.session({ maxTokens: 24 });
    const first = await say(straight, story);
    const at = (await straight.tokens()).length;
    const then = await say(straight, " and then");
    await straight.close();
    const session = await inference.session({ maxTokens: 24 });
    assert.deepEqual(await say(session, story), first);
    await say(session, " but nobody");
    assert.equal(await session.rewind(at), at);
    // 24 and a few more rows were taken since; the window's own are still there, most of them.
    assert.deepEqual(await say(session, " and then"), then);
  });

  test("a sliding-window model goes on after a slot and after a rewind as it would have", async () => {
    const tiny = await writeTinyModel(folder, "gemma3", { tokenizer: true });
    const window = { ...coded, cacheTypeV: "q4_0", exactTokens: 16, exactSinks: 2, ubatchSize: 32 };
    const words = "abc ".repeat(30); // beyond the model's window of 24
    const slot = join(folder, "sliding.slot");
    await using first = await open(window, tiny.path);
    const original = await first.session({ maxTokens: 12 });
    await say(original, words);
    await original.save(slot);
    const next = await say(original, "cab");
    await using second = await open({ ...window, maxStreams: 2 }, tiny.path);
    const restored = await second.session({ maxTokens: 12 });
    await restored.restore(slot);
    const at = (await restored.tokens()).length;
    assert.deepEqual(await say(restored, "cab"), next);
    assert.equal(await restored.rewind(at), at);
    await restored.restore(slot);
    assert.deepEqual(await say(restored, "cab"), next);
  });

  test("a sliding-window model has rows in both of its caches", async () => {
    const tiny = await writeTinyModel(folder, "gemma3", { tokenizer: true });
    await using inference = await open(
      { cacheTypeK: "q8_0", cacheTypeV: "q8_0", exactTokens: 16 },
      tiny.path,
    );
    const { kv } = inference.report();
    assert.equal(kv.caches.length, 2);
    assert.equal(kv.exact.bytes, tiny.layers * 2 * 2 * 64 * 2 * kv.exact.rowsPerStream);
    assert.equal((await collect(inference, "abc abc abc")).length > 0, true);
  });

  async function collect(inference: Inference, prompt: string): Promise<number[]> {
    const tokens: number[] = [];
    for await (const piece of inference.stream(prompt, { maxTokens: 16 })) tokens.push(...piece.tokens);
    return tokens;
  }
});

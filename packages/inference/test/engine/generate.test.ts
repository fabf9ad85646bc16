import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { readGguf } from "../../src/gguf/index.ts";
import { Inference } from "../../src/inference.ts";
import { libraryUnderTest, picoModel as model } from "./engine-under-test.ts";

const libraryPath = await libraryUnderTest();
const PROMPT = "Once upon a time there was a";

describe("generation", () => {
  let inference: Inference;
  before(async () => {
    inference = await Inference.open(model, { libraryPath, contextSize: 1024 });
  });
  after(() => inference.close());

  test("greedy text is the same every time", async () => {
    const texts = new Set<string>();
    for (let i = 0; i < 4; i++) texts.add(await inference.stream(PROMPT, { maxTokens: 32 }).text());
    assert.equal(texts.size, 1);
    assert.ok([...texts][0]!.length > 0);
  });

  test("a seed repeats its draws, another seed does not", async () => {
    const draw = (seed: number) => inference.stream(PROMPT, { maxTokens: 32, temperature: 1.2, seed }).text();
    const [first, again, other] = [await draw(7), await draw(7), await draw(8)];
    assert.equal(first, again);
    assert.notEqual(first, other);
  });

  test("maxTokens bounds the answer and is told as its finish", async () => {
    const stream = inference.stream(PROMPT, { maxTokens: 5, temperature: 1, seed: 1 });
    let tokens = 0;
    for await (const chunk of stream) tokens += chunk.tokens.length;
    const report = await stream.report();
    if (report.finishReason === "length") assert.equal(tokens, 5);
    else assert.equal(report.finishReason, "stop");
    assert.equal(report.timing.decodeTokens, tokens);
  });

  test("chunks join to the text of their tokens, each of them whole characters", async () => {
    // Unlikely tokens are cut characters more often than not: high temperature makes many.
    for (let seed = 0; seed < 6; seed++) {
      const ids: number[] = [];
      let text = "";
      for await (const chunk of inference.stream(PROMPT, { maxTokens: 48, temperature: 3, seed })) {
        assert.ok(!/\p{Surrogate}/u.test(chunk.text), "half a character");
        ids.push(...chunk.tokens);
        text += chunk.text;
      }
      const whole = await inference.detokenize(ids);
      // A first space may be the vocabulary's own mark of a text's beginning.
      assert.equal(text.replace(/^ /, ""), whole.replace(/^ /, ""), `seed ${seed}`);
    }
  });

  test("tokenize and detokenize are inverse for text in many scripts", async () => {
    for (const text of ["hello world", "naïve café", "漢字かな", "Привет, мир", "👩‍🚀 ok", "a\n\tb", ""]) {
      assert.equal((await inference.detokenize(await inference.tokenize(text))).replace(/^ /, ""), text);
    }
  });

  test("repeatPenalty, topK and topP change what is drawn, topK 1 is greedy", async () => {
    const base = { maxTokens: 24, temperature: 1, seed: 3 };
    const greedy = await inference.stream(PROMPT, { maxTokens: 24 }).text();
    assert.equal(await inference.stream(PROMPT, { ...base, topK: 1 }).text(), greedy);
    assert.equal(await inference.stream(PROMPT, { ...base, topP: 1e-6 }).text(), greedy);
    assert.notEqual(await inference.stream(PROMPT, base).text(), greedy);
    const penalised = await inference.stream(PROMPT, { maxTokens: 48, repeatPenalty: 10 }).text();
    assert.notEqual(penalised, await inference.stream(PROMPT, { maxTokens: 48 }).text());
  });

  test("a stream that was read is done, and one that was left early frees its sequence", async () => {
    const done = inference.stream(PROMPT, { maxTokens: 4 });
    await done.text();
    assert.deepEqual(await done.next(), { done: true, value: undefined });
    const left = inference.stream(PROMPT, { maxTokens: 512, temperature: 1, seed: 5 });
    const whole = await inference.stream(PROMPT, { maxTokens: 4 }).text();
    for await (const { tokens } of left) {
      assert.ok(tokens.length > 0 && tokens.length < 512);
      break;
    }
    assert.equal((await left.report()).finishReason, "cancelled");
    assert.equal(await inference.stream(PROMPT, { maxTokens: 4 }).text(), whole);
  });
});

describe("the report", () => {
  for (const [cacheTypeK, cacheTypeV, bytesK, bytesV] of [
    ["f16", "f16", 2, 2],
    ["turbo4", "turbo4", 18 / 32, 18 / 32],
    ["q8_0", "turbo4", 34 / 32, 18 / 32],
    ["turbo4", "f16", 18 / 32, 2],
  ] as const) {
    test(`K ${cacheTypeK}, V ${cacheTypeV}: types and bytes per token are the formula's, and what was allocated`, async () => {
      const { metadata } = await readGguf(model);
      const value = (key: string) => Number(metadata.get(`${metadata.get("general.architecture")}.${key}`));
      const headDim =
        value("attention.key_length") || value("embedding_length") / value("attention.head_count");
      const values = value("block_count") * value("attention.head_count_kv") * headDim;
      await using inference = await Inference.open(model, {
        libraryPath,
        contextSize: 512,
        cacheTypeK,
        cacheTypeV,
      });
      const { kv, runtime, context } = inference.report();
      assert.equal(runtime, "llama.cpp");
      assert.deepEqual([kv.typeK, kv.typeV], [cacheTypeK, cacheTypeV]);
      assert.equal(kv.bytesPerToken, values * (bytesK + bytesV));
      assert.equal(kv.bytesTotal, kv.bytesComputed);
      const coded = [cacheTypeK, cacheTypeV].some((type) => type !== "f16");
      assert.deepEqual([kv.exact.tokens, kv.exact.sinks], coded ? [128, 4] : [0, 0]);
      assert.ok(kv.exact.rowsPerStream >= kv.exact.tokens + kv.exact.sinks);
      // K and V of a window's row, two bytes a value
      assert.equal(kv.exact.bytes, values * 2 * 2 * kv.exact.rowsPerStream);
      assert.equal(kv.bytesTotal, kv.bytesPerToken * context.size + kv.exact.bytes);
      for (const layer of kv.caches.flatMap((cache) => cache.layers)) {
        assert.deepEqual([layer.k, layer.v], [cacheTypeK, cacheTypeV]);
      }
      assert.ok((await inference.stream(PROMPT, { maxTokens: 8 }).text()).length > 0);
    });
  }
});

test("every cache type that fits the model generates, and reports what it is", async () => {
  const types = await Inference.open(model, { libraryPath, contextSize: 256 }).then(async (inference) => {
    const known = inference.cacheTypes();
    await inference.close();
    return known;
  });
  const names = new Set(types.filter(({ needsMap }) => !needsMap).map(({ name }) => name));
  assert.ok(names.has("turbo3_tcq") && names.has("q4_polar"));
  for (const name of names) {
    const keysOnly = types.some((type) => type.name === name && type.keysOnly);
    const cacheTypeV = keysOnly ? "f16" : name;
    await using inference = await Inference.open(model, {
      libraryPath,
      contextSize: 256,
      cacheTypeK: name,
      cacheTypeV,
    });
    const { kv } = inference.report();
    assert.deepEqual([kv.typeK, kv.typeV], [name, cacheTypeV]);
    assert.equal(kv.bytesTotal, kv.bytesComputed);
    assert.ok((await inference.stream(PROMPT, { maxTokens: 8 }).text()).length > 0, name);
  }
});

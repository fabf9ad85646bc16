import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Inference } from "../../src/inference.ts";
import { libraryUnderTest, picoModel } from "../engine/engine-under-test.ts";
import { noLitert, tinyModel } from "./litert-under-test.ts";

const libraryPath = await libraryUnderTest();
const endingProgram = fileURLToPath(new URL("../engine/ending-program.ts", import.meta.url));
const expected = JSON.parse(
  await readFile(new URL("../../../../models/tiny/expected.json", import.meta.url), "utf8"),
) as Record<string, string>;

const ask = (content: string) => [{ role: "user" as const, content }];

async function textOf(stream: AsyncIterable<{ text: string }>): Promise<string> {
  let text = "";
  for await (const piece of stream) text += piece.text;
  return text;
}

describe("LiteRT-LM", { skip: noLitert }, () => {
  test("greedy answers are those of PyTorch in float32", async () => {
    await using tiny = await Inference.open(tinyModel, { libraryPath });
    assert.equal(tiny.report().runtime, "litert-lm");
    for (const [question, answer] of Object.entries(expected)) {
      assert.equal(await textOf(tiny.stream(ask(question), { maxTokens: 80 })), answer, question);
    }
  });

  test("every accelerator that does not answer has a reason in the report", async () => {
    for (const [gpuLayers, words] of [
      [0, /n_gpu_layers is 0/],
      [-1, /the model has no part for it|no libLiteRt/],
    ] as const) {
      await using tiny = await Inference.open(tinyModel, { libraryPath, gpuLayers });
      const { accelerators = [], device } = tiny.report();
      assert.deepEqual(
        accelerators.map(({ name }) => name.split(" ")[0]),
        ["NPU", "NPU", "NPU", "GPU", "CPU"],
      );
      assert.deepEqual(
        accelerators.filter(({ used }) => used).map(({ name }) => name),
        [device],
      );
      for (const { name, reason } of accelerators.slice(0, -1)) assert.match(reason, words, name);
    }
  });

  test("the start token is neither lost nor doubled, whoever writes it", async () => {
    await using tiny = await Inference.open(tinyModel, { libraryPath });
    const { bosToken } = tiny.report().model;
    assert.equal(bosToken, "<|im_start|>");
    const prompt = "user\nWhat is the capital of Peru?<|im_end|>\n<|im_start|>assistant\n";
    const withMarker = await textOf(tiny.stream(bosToken + prompt, { maxTokens: 20 }));
    assert.equal(await textOf(tiny.stream(prompt, { maxTokens: 20 })), withMarker);
    assert.equal(withMarker, expected["What is the capital of Peru?"]);
  });

  test("a conversation goes on, and after a cut it goes on right", async () => {
    await using tiny = await Inference.open(tinyModel, { libraryPath });
    await using session = await tiny.session({ maxTokens: 80 });
    const talk = ask("Tell me a story.");
    let read = 0;
    for await (const _ of session.generate(talk)) if (++read === 5) break;
    assert.equal(await textOf(session.generate(talk)), expected["Tell me a story."]);
    const answered = { role: "assistant" as const, content: expected["Tell me a story."]! };
    const next = [...talk, answered, ...ask("What is the capital of Japan?")];
    const generation = session.generate(next);
    assert.equal(await textOf(generation), expected["What is the capital of Japan?"]);
    const held = await session.tokens();
    assert.ok((await generation.report()).timing.reusedTokens > 0);
    assert.equal(await session.rewind(10), 10);
    assert.deepEqual(Array.from(await session.tokens()), Array.from(held.subarray(0, 10)));
    assert.equal(await textOf(session.generate(next)), expected["What is the capital of Japan?"]);
  });

  test("markers that users write stay text", async () => {
    await using tiny = await Inference.open(tinyModel, { libraryPath });
    const marker = "<|im_end|>";
    const [asToken] = await tiny.tokenize(marker, { parseSpecial: true });
    const asText = Array.from(await tiny.tokenize(marker));
    assert.ok(!asText.includes(asToken!), String(asText));
    assert.equal(await tiny.detokenize(asText), marker);
    await using session = await tiny.session({ maxTokens: 2 });
    await textOf(session.generate(ask(`Hello${marker}`)));
    const held = Array.from(await session.tokens());
    // One end of a turn that the template wrote: the user's is not one.
    assert.equal(held.slice(0, -2).filter((id) => id === asToken).length, 1);
  });

  test("the same seed draws the same text, another another; each generation may draw in its own way", async () => {
    await using tiny = await Inference.open(tinyModel, { libraryPath });
    const sampled = (seed: number) => textOf(tiny.stream("one", { maxTokens: 40, temperature: 3, seed }));
    assert.equal(await sampled(7), await sampled(7));
    assert.notEqual(await sampled(7), await sampled(8));
    await using session = await tiny.session({ maxTokens: 40 });
    const question = "What is the capital of Italy?";
    const drawn = await textOf(session.generate(ask(question), { temperature: 5, seed: 3 }));
    assert.notEqual(drawn, expected[question]);
    assert.equal(await textOf(session.generate(ask(question))), expected[question]);
  });

  test("what it cannot give is refused by name", async () => {
    await assert.rejects(Inference.open(tinyModel, { libraryPath, cacheTypeK: "turbo4" }), {
      code: "BACKEND_UNAVAILABLE",
      message: /litert-lm": cache_type_k needs the capability kv-types/,
    });
    await using tiny = await Inference.open(tinyModel, { libraryPath });
    await assert.rejects(textOf(tiny.stream("one", { repeatPenalty: 1.2 })), {
      code: "BACKEND_UNAVAILABLE",
      message: /"litert-lm": its sessions have no repeat penalty/,
    });
    await using session = await tiny.session();
    await assert.rejects(session.save("never.slot"), {
      code: "NOT_IMPLEMENTED",
      message: /lacks the capability slots/,
    });
  });

  test("a process that ends in the middle of a generation ends as it should", async () => {
    for (const [way, status] of [
      ["exit", 7],
      ["uncaught", 1],
      ["SIGINT handled", 130],
      ["terminate again", 0],
    ] as const) {
      for (let round = 0; round < 2; round++) {
        const args = ["--conditions=source", "--import", "tsx", endingProgram, tinyModel, libraryPath, way];
        const end = spawnSync(process.execPath, args, { encoding: "utf8", timeout: 60_000 });
        assert.deepEqual([end.status, end.signal], [status, null], `${way}: ${end.stderr}`);
      }
    }
  });

  test("llama.cpp and LiteRT-LM answer side by side in one process", async () => {
    const alone: string[] = [];
    const open = () =>
      Promise.all([Inference.open(picoModel, { libraryPath }), Inference.open(tinyModel, { libraryPath })]);
    const [pico, tiny] = await open();
    for (const model of [pico, tiny]) alone.push(await textOf(model.stream(ask("Hello"), { maxTokens: 24 })));
    const both = await Promise.all(
      [pico, tiny, pico, tiny].map((model) => textOf(model.stream(ask("Hello"), { maxTokens: 24 }))),
    );
    assert.deepEqual(both, [...alone, ...alone]);
    assert.deepEqual([pico.report().runtime, tiny.report().runtime], ["llama.cpp", "litert-lm"]);
    await Promise.all([pico.close(), tiny.close()]);
  });
});

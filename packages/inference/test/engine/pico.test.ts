import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, describe, test } from "node:test";
import type { ChatMessage } from "../../src/index.ts";
import { Inference } from "../../src/inference.ts";
import { libraryUnderTest, picoModel as model } from "./engine-under-test.ts";

interface Expectations {
  tokens: { text: string; ids: number[] }[];
  chats: { messages: ChatMessage[]; reply?: string }[];
  recall: {
    length: number;
    context: string;
    questions: { text: string; reply: string; recalled: boolean }[];
  }[];
}

const libraryPath = await libraryUnderTest();
const expectations: Expectations = JSON.parse(
  await readFile(new URL("../../../../models/pico/expectations.json", import.meta.url), "utf8"),
);

// What llama.cpp, without this project's engine, answered: models/pico/README.md.
describe("pico through the pipe answers as it does in llama.cpp alone", () => {
  let inference: Inference;
  before(async () => {
    inference = await Inference.open(model, { libraryPath });
  });
  after(() => inference.close());

  test("token ids", async () => {
    for (const { text, ids } of expectations.tokens) {
      assert.deepEqual(Array.from(await inference.tokenize(text, { parseSpecial: true })), ids, text);
      assert.equal(await inference.detokenize(ids, { special: true }), text);
    }
  });

  test("chat replies, through the model's own template", async () => {
    for (const chat of expectations.chats) {
      const reply = chat.reply ?? chat.messages.at(-1)!.content ?? "";
      const asked = chat.reply === undefined ? chat.messages.slice(0, -1) : chat.messages;
      assert.equal((await inference.stream(asked, { maxTokens: 96 }).text()).trim(), reply.trim());
    }
  });

  for (const { length, context, questions } of expectations.recall) {
    test(`facts recalled over ${length} tokens`, async () => {
      for (const { text, reply } of questions) {
        const answer = await inference.stream(context + text, { maxTokens: 48 }).text();
        assert.equal(answer.trim(), reply.replace("<|im_end|>", "").trim());
      }
    });
  }
});

test("facts are still recalled over a context of 1,024 tokens with a turbo4 cache", async () => {
  await using inference = await Inference.open(model, {
    libraryPath,
    cacheTypeK: "turbo4",
    cacheTypeV: "turbo4",
  });
  const { context, questions } = expectations.recall.find(({ length }) => length === 1024)!;
  for (const { text, reply, recalled } of questions) {
    if (!recalled) continue;
    const answer = await inference.stream(context + text, { maxTokens: 48 }).text();
    assert.equal(answer.trim(), reply.replace("<|im_end|>", "").trim());
  }
});

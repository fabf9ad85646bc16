import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Tokenizer } from "../generator/tokenizer.ts";

const file = (name: string): URL => new URL(`../../models/pico/${name}`, import.meta.url);
const tokenizer = Tokenizer.fromFile(file("tokenizer.json").pathname);
const expectations = JSON.parse(readFileSync(file("expectations.json"), "utf8")) as {
  bytes: number;
  sha256: string;
  tokens: { text: string; ids: number[] }[];
  chats: { messages: { role: string; content: string }[]; margin: number }[];
  recall: { length: number; context: string; questions: { text: string; reply: string }[] }[];
};

test("the committed model is the one that the card and the expectations speak of, and at most 12 MB", () => {
  const bytes = readFileSync(file("pico.gguf"));
  assert.equal(bytes.subarray(0, 4).toString("latin1"), "GGUF");
  assert.ok(bytes.length <= 12_000_000, `${bytes.length} bytes`);
  assert.equal(bytes.length, expectations.bytes);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  assert.equal(sha256, expectations.sha256);
  const card = readFileSync(file("README.md"), "utf8");
  assert.ok(card.includes(sha256), "models/pico/README.md names another sha256");
});

test("token ids are llama.cpp's", () => {
  assert.ok(expectations.tokens.length >= 5);
  for (const { text, ids } of expectations.tokens) assert.deepEqual(tokenizer.encode(text), ids, text);
});

test("decoding gives the text back", () => {
  const texts = [
    ...expectations.tokens.map(({ text }) => text),
    expectations.recall[0]!.context,
    "",
    " ",
    "\r\n\t x",
    "e\u0301 \u{1F468}\u200D\u{1F469}\u200D\u{1F467} \u0000",
    "a".repeat(1000),
  ];
  for (const text of texts) assert.equal(tokenizer.decode(tokenizer.encode(text)), text);
  assert.throws(() => tokenizer.decode([tokenizer.size]), /outside of the vocabulary/);
});

test("every digit is a token, and the specials are single ones", () => {
  assert.equal(tokenizer.size, 3072);
  assert.equal(tokenizer.encode("90210").length, 5);
  for (const text of ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]) {
    assert.deepEqual(tokenizer.encode(text), [tokenizer.special(text)]);
  }
  assert.throws(() => tokenizer.special("<|nothing|>"), /no special token/);
});

test("recall expectations fill their lengths and hold their answers", () => {
  assert.deepEqual(
    expectations.recall.map(({ length }) => length),
    [512, 1024, 2048, 4096],
  );
  for (const { length, context, questions } of expectations.recall) {
    assert.ok(questions.length > 0);
    for (const { text, reply } of questions) {
      const total = tokenizer.encode(context + text + reply).length;
      assert.ok(total <= length && total > 0.8 * length, `${total} of ${length}`);
    }
  }
});

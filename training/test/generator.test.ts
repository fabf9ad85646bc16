import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { sum } from "../generator/arithmetic.ts";
import { END_OF_TEXT, SPAN, textOf } from "../generator/document.ts";
import { listCase, plantedCase, questionText, replyText } from "../generator/evaluation-cases.ts";
import { freshFact, recall, state } from "../generator/facts.ts";
import { nextDocument, shardRandom } from "../generator/mixture.ts";
import { fillWindow, KIND_SHIFT } from "../generator/pack.ts";
import { Random } from "../generator/random.ts";
import { sentence, template } from "../generator/template.ts";
import { Tokenizer } from "../generator/tokenizer.ts";

const tokenizer = Tokenizer.fromFile(new URL("../../models/pico/tokenizer.json", import.meta.url).pathname);

const windows = (split: "train" | "held-out", length: number, count: number): Uint16Array => {
  const random = shardRandom(split, length, 0);
  const data = new Uint16Array(length * count);
  for (let i = 0; i < count; i++) fillWindow(data.subarray(i * length, (i + 1) * length), random, tokenizer);
  return data;
};
const hash = (data: Uint16Array): string =>
  createHash("sha256").update(new Uint8Array(data.buffer)).digest("hex");

test("the generator writes the very bytes that the model was trained on", () => {
  assert.equal(
    hash(windows("train", 512, 64)),
    "b8882d91fc182d0059994603560737952683296e421dc116276fe5844e652784",
    "the first windows of the training have changed: a new generator needs a new training",
  );
  assert.equal(
    hash(windows("train", 4096, 4)),
    "67bbeec9e236b669480675a2834850f20d9a8d3007a0243c314fb69cac991c09",
  );
});

test("equal seeds give equal windows, other shards and splits give others", () => {
  assert.deepEqual(windows("train", 256, 4), windows("train", 256, 4));
  assert.notDeepEqual(windows("train", 256, 4), windows("held-out", 256, 4));
  const first = shardRandom("train", 256, 0);
  const second = shardRandom("train", 256, 1);
  assert.notEqual(nextDocument(first, 512).text, nextDocument(second, 512).text);
});

test("no document of the held-out half is in the training half", () => {
  const texts = (split: "train" | "held-out"): Set<string> => {
    const found = new Set<string>();
    for (let shard = 0; shard < 40; shard++) {
      const random = shardRandom(split, 512, shard);
      for (let i = 0; i < 25; i++) found.add(nextDocument(random, 512).text);
    }
    return found;
  };
  const train = texts("train");
  const heldOut = [...texts("held-out")];
  assert.ok(train.size > 950, `only ${train.size} of 1,000 documents differ from one another`);
  assert.deepEqual(
    heldOut.filter((text) => train.has(text)),
    [],
  );
});

test("documents are ASCII, and their spans are in order and reach to the end", () => {
  const random = new Random(1);
  const kinds = new Set<number>();
  for (let i = 0; i < 300; i++) {
    const { text, ends, kinds: found } = nextDocument(random, 700);
    assert.match(text, /^[\n -~]*$/);
    assert.equal(ends[ends.length - 1], text.length);
    for (let j = 1; j < ends.length; j++) assert.ok(ends[j]! > ends[j - 1]!);
    for (const kind of found) kinds.add(kind);
  }
  assert.deepEqual([...kinds].sort(), Object.values(SPAN));
});

test("a window is full of whole documents in the chat template's order", () => {
  const length = 1024;
  const data = windows("train", length, 12);
  const end = tokenizer.special(END_OF_TEXT);
  for (let row = 0; row < 12; row++) {
    const ids = [...data.subarray(row * length, (row + 1) * length)].map(
      (packed) => packed & ((1 << KIND_SHIFT) - 1),
    );
    assert.ok(ids.every((id) => id < tokenizer.size));
    const documents = tokenizer.decode(ids).split(END_OF_TEXT).slice(0, -1);
    assert.ok(documents.length > 0 && ids.includes(end));
    for (const text of documents) {
      const marks = text.match(/<\|im_(start|end)\|>/g) ?? [];
      marks.forEach((mark, i) => {
        assert.equal(mark, i % 2 === 0 ? "<|im_start|>" : "<|im_end|>", text);
      });
      assert.equal(marks.length % 2, 0, text);
    }
  }
});

test("a fact tells its value, recalls it, and is asked for under a key of its own", () => {
  const random = new Random(2);
  const taken = new Set<string>();
  for (let i = 1; i <= 3000; i++) {
    const fact = freshFact(random, taken);
    assert.equal(taken.size, i);
    const told = state(random, fact);
    const recalled = recall(fact);
    assert.ok(textOf(told).includes(fact.value), textOf(told));
    assert.ok(textOf(recalled).includes(fact.value), textOf(recalled));
    assert.ok(!/[@#]|undefined/.test(textOf(told).replace(fact.value, "")), textOf(told));
    const marked = recalled.filter((piece) => piece.kind === SPAN.answer);
    assert.equal(marked.map((piece) => piece.text.trim()).join(), fact.value);
    for (const question of fact.questions) assert.match(question, /[?.]$/);
  }
});

test("sums are right", () => {
  const random = new Random(3);
  for (let i = 0; i < 2000; i++) {
    const { text, result } = sum(random);
    const [left, operator, right] = text.split(" ");
    const a = Number(left);
    const b = Number(right);
    const expected = operator === "+" ? a + b : operator === "-" ? a - b : a * b;
    assert.equal(result, expected, text);
    assert.ok(result >= 0);
  }
});

test("evaluation cases fit their length, ask in one way only and answer from their context", () => {
  for (const length of [512, 2048]) {
    for (const make of [plantedCase, listCase]) {
      const found = make(shardRandom("held-out", length, 77), length, tokenizer);
      const context = tokenizer.encode(found.context).length;
      assert.ok(context > 0.8 * length, `${context} of ${length} tokens`);
      assert.ok(found.questions.length >= 8);
      assert.equal(new Set(found.questions.map(({ question }) => question)).size, found.questions.length);
      for (const question of found.questions) {
        const more = tokenizer.encode(questionText(question) + replyText(question)).length;
        assert.ok(context + more <= length);
        const value = question.reply.find((piece) => piece.kind === SPAN.answer)!.text;
        if (make === plantedCase) assert.ok(found.context.includes(value.trim()));
        else
          assert.ok(
            found.context.includes(value.replace("The value of ", "").replace(" is ", ": ").slice(0, -1)),
          );
      }
    }
  }
});

test("templates name what is wrong with them", () => {
  assert.throws(() => template("a {slot"), /not closed/);
  assert.throws(() => template("a [b|c"), /not closed/);
  assert.throws(() => sentence(template("{nothing}"), {}, new Random(1)), /no slot named "nothing"/);
  assert.equal(
    sentence(template("A {x} and a [{x}|{x}]."), { x: () => "owl" }, new Random(1)),
    "An owl and an owl.",
  );
});

test("random numbers are even enough and never leave their range", () => {
  const random = new Random(4, 5);
  const counts = new Array<number>(10).fill(0);
  for (let i = 0; i < 100_000; i++) counts[random.int(0, 9)]!++;
  assert.equal(
    counts.reduce((a, b) => a + b),
    100_000,
  );
  // Five standard deviations of a fair draw are 474.
  for (const count of counts) assert.ok(Math.abs(count - 10_000) < 474, String(counts));
  assert.deepEqual(random.sample([1, 2, 3, 4], 4).sort(), [1, 2, 3, 4]);
  const a = new Random(0).uint32();
  assert.notEqual(a, new Random(1).uint32());
  assert.notEqual(new Random(1, 2).uint32(), new Random(2, 1).uint32());
});

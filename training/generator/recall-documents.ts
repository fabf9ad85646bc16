import { answer, type Document, DocumentBuilder, prose } from "./document.ts";
import { ask, type Fact, freshFact, recall, state } from "./facts.ts";
import { code, digits, fullName, inventedWord, person, thing } from "./phrases.ts";
import type { Random } from "./random.ts";
import { Filler, type Sentences, ShortText } from "./short-texts.ts";
import { Story } from "./stories.ts";
import * as words from "./vocabulary.ts";

/** Characters a token stands for on average; only sizes documents, so it need not be exact. */
export const CHARACTERS_PER_TOKEN = 4;

/**
 * Facts planted in a story, asked for on the way and at the end.
 * @param size characters to aim at
 */
export const plantedFacts = (random: Random, size: number): Document => {
  const builder = new DocumentBuilder();
  const story: Sentences = random.weighted<() => Sentences>([
    [() => new Story(random), 6],
    [() => new ShortText(random), 3],
    [() => new Filler(random), 2],
  ])();
  const taken = new Set<string>();
  const facts: Fact[] = [];
  const style = random.pick(["qa", "chat", "question"] as const);
  const density = random.pick([0.1, 0.2, 0.4]);
  // Half of the documents keep every question for the end, where the distances are longest.
  const asking = random.chance(0.5) ? 0 : density * 0.7;
  let fresh = true;
  const question = (fact: Fact): void => {
    if (!fresh) builder.add("\n\n");
    fresh = true;
    if (style === "qa") {
      builder
        .add(`Q: ${random.pick(fact.questions)}\nA:`)
        .answer(` ${fact.value}`)
        .add("\n\n");
    } else {
      builder
        .add(`Question: ${random.pick(fact.questions)}\nAnswer: `)
        .pieces(recall(fact))
        .add("\n\n");
    }
  };
  const open = style === "chat";
  if (open) {
    builder.add("<|im_start|>user\n");
    if (random.chance(0.5))
      builder.add(random.pick(["Read this text.\n\n", "Here is a story.\n\n", "Text:\n"]));
  }
  const tail = Math.min(24, Math.max(2, Math.round(size / 700)));
  const body = size - tail * 130;
  do {
    if (random.chance(density)) {
      const fact = freshFact(random, taken);
      facts.push(fact);
      builder.add(fresh ? "" : " ").pieces(state(random, fact));
      fresh = false;
    } else if (!open && facts.length > 0 && random.chance(asking)) {
      question(random.pick(facts));
    } else {
      const sentence = story.next();
      builder.add(fresh ? sentence.trimStart() : sentence);
      fresh = false;
    }
  } while (builder.length < body || facts.length === 0);

  const asked = random.sample(facts, tail);
  if (!open) {
    for (const fact of asked) question(fact);
    return builder.finish();
  }
  const [first, ...rest] = asked;
  builder.add(
    `${random.pick(["\n\n", "\n\n", "\n", " ", "\n\nQuestion: "])}${ask(random, first!)}<|im_end|>\n`,
  );
  builder.turn("assistant", recall(first!));
  for (const fact of rest) builder.turn("user", ask(random, fact)).turn("assistant", recall(fact));
  return builder.finish();
};

type Words = (random: Random) => string;
const keyKinds: readonly (readonly [string, Words])[] = [
  ["word", (random) => random.pick(words.PLAIN_WORDS)],
  ["thing", thing],
  ["name", fullName],
  ["name", (random) => person(random).name],
  ["code", code],
  ["town", (random) => random.pick(words.TOWNS)],
  ["word", inventedWord],
];
const valueKinds: readonly Words[] = [
  code,
  (random) => digits(random, 2, 6),
  (random) => random.pick(words.PLAIN_WORDS),
  inventedWord,
  (random) => random.pick(words.COLOURS),
  (random) => random.pick(words.FOODS),
  fullName,
  (random) => random.pick(words.TOWNS),
];
const shapes: readonly (readonly [before: string, between: string, after: string])[] = [
  ["", ":", "\n"],
  ["", " =", "\n"],
  ["", " ->", "\n"],
  ["- ", ":", "\n"],
  ["The value of ", " is", ".\n"],
  ["The value of ", " is", ". "],
  ["", " |", "\n"],
  ["", " is", ". "],
  ["", " goes with", ". "],
];

/**
 * A list of keys with values, and then questions in the list's own shape, as Q and A, or as a chat.
 * @param size characters to aim at
 */
export const keyValueList = (random: Random, size: number): Document => {
  const builder = new DocumentBuilder();
  const [kind, makeKey] = random.pick(keyKinds);
  const makeValue = random.pick(valueKinds);
  const [before, between, after] = random.pick(shapes);
  const style = random.pick(["echo", "echo", "qa", "chat"] as const);
  const interleaved = style === "echo" && random.chance(0.6);
  const list: (readonly [string, string])[] = [];
  const taken = new Set<string>();
  if (style === "chat") {
    const opening = random.pick([
      "Remember this list:\n",
      "Here are some values.\n",
      `Each ${kind} has a value.\n`,
    ]);
    builder.add(`<|im_start|>user\n${opening}`);
  } else if (random.chance(0.3)) {
    builder.add(random.pick(["List:\n", "Records:\n", "Values:\n", "Table of values\n\n"]));
  }
  const share = interleaved ? 0.97 : random.pick([0.5, 0.65, 0.8]);
  let misses = 0;
  while (list.length < 2 || (builder.length < size * share && misses < 20)) {
    if (interleaved && list.length > 1 && random.chance(0.5)) {
      const [key, value] = random.pick(list);
      builder
        .noise(before + key)
        .add(between)
        .answer(` ${value}`)
        .add(after);
      continue;
    }
    const key = makeKey(random);
    if (taken.has(key)) {
      misses++;
      continue;
    }
    taken.add(key);
    const value = makeValue(random);
    list.push([key, value]);
    builder
      .noise(before + key)
      .add(between)
      .noise(` ${value}`)
      .add(after);
  }
  if (style === "chat")
    builder.add("<|im_end|>\n").turn("assistant", random.pick(["I will remember.", "Noted.", "OK."]));
  else if (!interleaved) builder.add(random.pick(["\n", "\nNow recall the values.\n", "\nQuestions\n"]));
  // Without repetition as long as there are keys left, so that the whole list is covered.
  const order = random.shuffle(list.slice());
  for (let i = 0; builder.length < size && i < order.length; i++) {
    const [key, value] = order[i]!;
    if (style === "echo")
      builder
        .noise(before + key)
        .add(between)
        .answer(` ${value}`)
        .add(after);
    else if (style === "qa") {
      builder.add(`Q: What is the value of ${key}?\nA:`).answer(` ${value}`).add("\n");
    } else {
      const question = random.pick([`What is the value of ${key}?`, `Which value does ${key} have?`]);
      builder.turn("user", question);
      builder.turn("assistant", [prose(`The value of ${key} is`), answer(` ${value}`), prose(".")]);
    }
  }
  return builder.finish();
};

/**
 * Text that comes again word for word: the plainest exercise in copying over a distance.
 * @param size characters to aim at
 */
export const repetition = (random: Random, size: number): Document => {
  const builder = new DocumentBuilder();
  const items: string[] = [];
  const make = random.pick([
    code,
    inventedWord,
    (inner: Random) => inner.pick(words.PLAIN_WORDS),
    fullName,
    thing,
  ]);
  const separator = random.pick([" ", ", ", "\n"]);
  let length = 0;
  while (length < size / 2.2 || items.length < 2) {
    const item = make(random);
    items.push(item);
    length += item.length + separator.length;
  }
  const text = items.join(separator);
  builder.add("Copy this:\n").noise(text).add("\n\nCopy:\n");
  return builder.answer(text).add("\n").finish();
};

/**
 * Notes about a few people or places, several facts to each, with an index of questions behind every few notes.
 * @param size characters to aim at
 */
export const notes = (random: Random, size: number): Document => {
  const builder = new DocumentBuilder();
  const taken = new Set<string>();
  const facts: Fact[] = [];
  builder.add(random.pick(["Notes\n\n", "Facts to remember:\n", "# Notes\n\n", ""]));
  const bullet = random.pick(["", "- ", "* "]);
  while (builder.length < size) {
    for (let i = random.int(2, 10); i > 0; i--) {
      const fact = freshFact(random, taken);
      facts.push(fact);
      builder.add(bullet).pieces(state(random, fact)).add("\n");
    }
    builder.add("\n");
    for (let i = random.int(1, 8); i > 0; i--) {
      const fact = random.pick(facts);
      builder.add(`Q: ${random.pick(fact.questions)}\nA: `);
      if (random.chance(0.5)) builder.pieces(recall(fact)).add("\n");
      else builder.answer(fact.value).add("\n");
    }
    builder.add("\n");
  }
  return builder.finish();
};

import * as arithmetic from "./arithmetic.ts";
import { answer, type Document, DocumentBuilder, prose } from "./document.ts";
import { ask, type Fact, freshFact, recall, state } from "./facts.ts";
import { jsonExchange, lookUpExchange } from "./json-documents.ts";
import { knowledge } from "./knowledge.ts";
import { article, capital, inventedWord, listing, person, thing } from "./phrases.ts";
import type { Random } from "./random.ts";
import { ShortText } from "./short-texts.ts";
import * as talk from "./small-talk.ts";
import { Story } from "./stories.ts";
import * as words from "./vocabulary.ts";

export const SYSTEM_PROMPTS = [
  "You are Pico, a small language model. Answer in plain English.",
  "You are a helpful assistant.",
  "You are Pico. You remember what you are told.",
  "You are a careful assistant with a good memory.",
] as const;

const ABOUT: readonly (readonly [readonly string[], readonly string[]])[] = [
  [
    ["Hello!", "Hello.", "Hi.", "Hi there!", "Good morning.", "Good evening.", "Hey Pico."],
    ["Hello! How can I help you?", "Hello! What would you like to know?", "Good day! What can I do for you?"],
  ],
  [
    ["Who are you?", "What is your name?", "What are you?", "Introduce yourself."],
    [
      "I am Pico, a small language model.",
      "My name is Pico. I am a small language model that remembers what you tell it.",
    ],
  ],
  [
    ["What can you do?", "How can you help me?", "What are you good at?"],
    [
      "I can remember facts, answer questions about a text, do small sums, write JSON and tell short stories.",
      "I can remember what you tell me and give it back. I can also do small sums and tell short stories.",
    ],
  ],
  [
    ["How are you?", "How do you do?", "Are you well?"],
    ["I am well, thank you. How can I help you?", "Very well, thank you."],
  ],
  [
    ["Thank you.", "Thanks!", "Thank you very much.", "Well done."],
    ["You are welcome.", "You are welcome. Is there anything else?", "I am glad to help."],
  ],
];
const CLOSING: readonly (readonly [readonly string[], readonly string[]])[] = [
  [
    ["Goodbye.", "Bye!", "See you later.", "That is all for today."],
    ["Goodbye!", "Goodbye! Come back soon."],
  ],
];
const ACKNOWLEDGED = [
  "I will remember that.",
  "Noted.",
  "Thank you, I will remember.",
  "Good to know.",
  "OK.",
];
/** Questions that nothing in the conversation answers and that the model's small world does not hold. */
const beyond = (random: Random): string => {
  const noun = random.pick(random.chance(0.5) ? words.OBJECTS : words.ABSTRACTS);
  const name = random.chance(0.5) ? capital(inventedWord(random)) : random.pick(words.TOWNS);
  return random.pick([
    `What is the capital of ${name}?`,
    `Who wrote the book about ${noun}?`,
    `Who is the king of ${name}?`,
    `When was ${name} founded?`,
    `How old is ${person(random).name}?`,
    `Who invented the ${random.pick(words.OBJECTS)}?`,
    `How far is it to ${name}?`,
    `What will the weather be on ${random.pick(words.DAYS)}?`,
    `What does ${inventedWord(random)} mean?`,
    `Explain ${noun}.`,
    `Explain how ${article(noun)} works.`,
    `Write a poem about ${noun}.`,
    `What do you think about ${noun}?`,
    `Translate "${noun}" into ${random.pick(["French", "German", "Spanish", "Latin", "Greek"])}.`,
    `Why is the ${thing(random)} so ${random.pick(words.ADJECTIVES)}?`,
  ]);
};
const UNKNOWN = ["I do not know. You have not told me.", "I do not know that.", "You have not told me that."];
const BEYOND = [
  "I do not know that.",
  "I do not know. I am only a small model.",
  "I am too small a model for that.",
];

const small = (random: Random, builder: DocumentBuilder, table = ABOUT): void => {
  const [questions, replies] = random.pick(table);
  builder.turn("user", random.pick(questions)).turn("assistant", random.pick(replies));
};

const tellStory = (random: Random, builder: DocumentBuilder): void => {
  const story = new Story(random);
  let text = "";
  for (let i = random.int(4, 10); i > 0; i--) text += story.next();
  const about = random.pick(["", "", ` about ${story.hero}`, ` about ${story.prize}`, ` about ${story.job}`]);
  const request = random.pick([
    "Tell me a story",
    "Tell me a short story",
    "Write a short story",
    "Write a story",
  ]);
  builder.turn("user", `${request}${about}.`).turn("assistant", text + story.end());
};

const question = (random: Random, builder: DocumentBuilder): void => {
  const make = random.weighted<(random: Random) => arithmetic.Exchange>([
    [arithmetic.sumExchange, 4],
    [arithmetic.wordProblem, 2],
    [arithmetic.comparison, 1],
    [arithmetic.counting, 1],
    [arithmetic.order, 1],
    [jsonExchange, 2],
    [lookUpExchange, 2],
    [talk.nameSome, 1],
    [talk.isA, 1],
    [talk.spell, 0.5],
    [talk.parity, 0.5],
    [talk.sortNumbers, 0.5],
    [talk.manyOf, 0.5],
    [talk.repeat, 1],
    [
      (inner) => {
        const known = knowledge(inner);
        return { question: known.question, reply: [answer(known.answer)] };
      },
      5,
    ],
  ]);
  const exchange = make(random);
  builder.turn("user", exchange.question).turn("assistant", exchange.reply);
};

/** Names, colours or foods told in one list and asked for again. */
const listExchange = (random: Random, builder: DocumentBuilder): void => {
  const [what, pool] = random.pick([
    ["foods", words.FOODS] as const,
    ["towns", words.TOWNS] as const,
    ["animals", words.ANIMALS] as const,
    ["colours", words.COLOURS] as const,
    ["objects", words.OBJECTS] as const,
  ]);
  const items = random.sample(pool, random.int(2, 6));
  builder
    .turn("user", `Remember these ${what}: ${items.join(", ")}.`)
    .turn("assistant", random.pick(ACKNOWLEDGED));
  if (random.chance(0.4)) question(random, builder);
  builder.turn(
    "user",
    random.pick([`Which ${what} did I name?`, `Repeat the ${what}.`, `List the ${what}.`]),
  );
  builder.turn("assistant", [prose(`The ${what} are`), answer(` ${listing(items)}`), prose(".")]);
};

const BRIEFLY = [
  "Answer briefly.",
  "Reply with the value only.",
  "Give only the value.",
  "Only the value, please.",
];

const askForFact = (random: Random, builder: DocumentBuilder, fact: Fact): void => {
  if (random.chance(0.12)) {
    builder
      .turn("user", `${ask(random, fact)} ${random.pick(BRIEFLY)}`)
      .turn("assistant", [answer(fact.value)]);
  } else builder.turn("user", ask(random, fact)).turn("assistant", recall(fact));
};

/** A text from the user, with questions about the facts in it. */
const readText = (random: Random, builder: DocumentBuilder, taken: Set<string>, facts: Fact[]): void => {
  const text = new ShortText(random);
  builder.add("<|im_start|>user\n");
  const before = random.chance(0.4) ? 0 : random.int(1, 8);
  for (let i = before; i > 0; i--) builder.add(text.next());
  let fact = freshFact(random, taken);
  facts.push(fact);
  builder.add(before > 0 ? " " : "").pieces(state(random, fact));
  for (let i = random.pick([0, 0, 1, 2, 4]); i > 0; i--) {
    const other = freshFact(random, taken);
    facts.push(other);
    builder.add(" ").pieces(state(random, other));
    if (random.chance(0.5)) fact = other;
  }
  if (before > 0) for (let i = random.int(0, 5); i > 0; i--) builder.add(text.next());
  builder
    .add(`${random.pick(["\n\n", "\n", " ", " "])}${ask(random, fact)}<|im_end|>\n`)
    .turn("assistant", recall(fact));
};

/**
 * A conversation: small talk, questions, facts told and asked for again.
 * @param size characters to aim at
 */
export const dialogue = (random: Random, size: number): Document => {
  const builder = new DocumentBuilder();
  const taken = new Set<string>();
  const facts: Fact[] = [];
  if (random.chance(0.08)) {
    builder.add(`<|im_start|>system\n${random.pick(["", "You are a helpful assistant. "])}`);
    for (let i = random.int(1, 5); i > 0; i--) {
      const fact = freshFact(random, taken);
      facts.push(fact);
      builder.pieces(state(random, fact)).add(i > 1 ? " " : "<|im_end|>\n");
    }
  } else if (random.chance(0.3)) builder.turn("system", random.pick(SYSTEM_PROMPTS));
  if (random.chance(0.3)) small(random, builder);
  do {
    const kind = random.weighted([
      ["tell", 4],
      ["tell several", 2],
      ["ask", facts.length > 0 ? 7 : 0],
      ["ask the unknown", 0.8],
      ["question", 4],
      ["small talk", 0.7],
      ["story", size > 1500 ? 0.7 : 0.2],
      ["list", 0.6],
      ["read", 2],
      ["who", taken.has("my name") || taken.has("my job") ? 0 : 0.4],
    ] as const);
    if (kind === "tell") {
      const fact = freshFact(random, taken);
      facts.push(fact);
      builder.turn("user", state(random, fact)).turn("assistant", random.pick(ACKNOWLEDGED));
    } else if (kind === "tell several") {
      builder.add("<|im_start|>user\n");
      for (let i = random.int(2, 5); i > 0; i--) {
        const fact = freshFact(random, taken);
        facts.push(fact);
        builder.pieces(state(random, fact)).add(i > 1 ? " " : "<|im_end|>\n");
      }
      builder.turn("assistant", random.pick(ACKNOWLEDGED));
    } else if (kind === "ask") {
      askForFact(random, builder, random.pick(facts));
    } else if (kind === "ask the unknown") {
      if (random.chance(0.5)) builder.turn("user", beyond(random)).turn("assistant", random.pick(BEYOND));
      else
        builder.turn("user", ask(random, freshFact(random, taken))).turn("assistant", random.pick(UNKNOWN));
    } else if (kind === "read") readText(random, builder, taken, facts);
    else if (kind === "small talk") small(random, builder);
    else if (kind === "story") tellStory(random, builder);
    else if (kind === "list") listExchange(random, builder);
    else if (kind === "who") {
      taken.add("my name").add("my job");
      const name = person(random).name;
      const job = article(random.pick(words.JOBS));
      builder
        .turn("user", `My name is ${name} and I am ${job}.`)
        .turn("assistant", `Nice to meet you, ${name}.`);
      if (random.chance(0.5)) question(random, builder);
      const [asked, reply, value] = random.chance(0.6)
        ? (["What is my name?", "Your name is", name] as const)
        : (["What is my job?", "You are", job] as const);
      builder.turn("user", asked).turn("assistant", [prose(reply), answer(` ${value}`), prose(".")]);
    } else question(random, builder);
  } while (builder.length < size);
  if (random.chance(0.15)) small(random, builder, CLOSING);
  return builder.finish();
};

/** Bare sums and questions, one a line, outside of the chat template. */
export const worksheet = (random: Random, size: number): Document => {
  const builder = new DocumentBuilder();
  const sums = random.chance(0.6);
  do {
    if (sums) {
      const { text, result } = arithmetic.sum(random);
      builder.add(`${text} =`).answer(` ${result}`).add("\n");
    } else {
      const { question: asked, answer: told } = knowledge(random);
      builder.add(`Q: ${asked}\nA: `).answer(told).add("\n\n");
    }
  } while (builder.length < size);
  return builder.finish();
};

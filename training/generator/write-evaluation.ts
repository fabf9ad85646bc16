/**
 * Writes the held-out evaluation set for pico-check: write-evaluation TOKENIZER.json OUT
 *
 * For each length, contexts with planted facts (a story around them) and contexts that are one key-value list, each
 * with questions whose replies end within `length` tokens; and windows of the held-out stream for perplexity.
 */
import { writeFileSync } from "node:fs";
import { sumExchange, wordProblem } from "./arithmetic.ts";
import { answer } from "./document.ts";
import {
  type Case,
  LENGTHS,
  listCase,
  plantedCase,
  QUESTIONS_PER_CONTEXT,
  type Question,
  questionText,
  replyText,
} from "./evaluation-cases.ts";
import { jsonExchange, lookUpExchange } from "./json-documents.ts";
import { knowledge } from "./knowledge.ts";
import { shardRandom } from "./mixture.ts";
import { fillWindow } from "./pack.ts";
import type { Random } from "./random.ts";
import { Tokenizer } from "./tokenizer.ts";

/** Streams far from those of the shards, which count from 0. */
const PLANTED_STREAM = 1_000_000;
const LIST_STREAM = 2_000_000;
const WINDOW_STREAM = 3_000_000;

const caseLines = (letterKind: number, length: number, found: Case, tokenizer: Tokenizer): string[] => {
  const context = tokenizer.encode(found.context);
  const lines = [`C ${length} ${letterKind} ${context.join(" ")}`];
  for (const question of found.questions) {
    const prompt = tokenizer.encode(questionText(question));
    const reply = tokenizer.encode(replyText(question));
    const total = context.length + prompt.length + reply.length;
    if (total > length)
      throw new Error(`write-evaluation: a case takes ${total} tokens of ${length}; widen the room`);
    lines.push(`Q ${prompt.length} ${[...prompt, ...reply].join(" ")}`);
  }
  return lines;
};

/** Kinds 2 and up of pico-check, asked without a context. */
const SKILLS: readonly ((random: Random) => Question)[] = [
  sumExchange,
  wordProblem,
  jsonExchange,
  lookUpExchange,
  (random) => {
    const { question, answer: told } = knowledge(random);
    return { question, reply: [answer(told)] };
  },
];
const QUESTIONS_PER_SKILL = 200;

const skillLines = (tokenizer: Tokenizer): string[] =>
  SKILLS.flatMap((make, i) => {
    const random = shardRandom("held-out", 1, i);
    const lines = [`C 1 ${i + 2} ${tokenizer.encode("<|im_start|>user\n").join(" ")}`];
    const asked = new Set<string>();
    while (asked.size < QUESTIONS_PER_SKILL && lines.length < 10 * QUESTIONS_PER_SKILL) {
      const question = make(random);
      lines.push("");
      // JSON may be written on one line or on several; only the first can be foreseen more often than not.
      if (asked.has(question.question) || replyText(question).includes("\n")) continue;
      asked.add(question.question);
      const prompt = tokenizer.encode(questionText(question).trimStart());
      lines.push(`Q ${prompt.length} ${[...prompt, ...tokenizer.encode(replyText(question))].join(" ")}`);
    }
    return lines.filter((line) => line !== "");
  });

const main = (tokenizerPath: string, out: string): void => {
  const tokenizer = Tokenizer.fromFile(tokenizerPath);
  const lines: string[] = [];
  for (const length of LENGTHS) {
    // 256 questions about planted facts and 128 about lists.
    const contexts = 256 / Math.min(QUESTIONS_PER_CONTEXT, length / 64);
    for (let i = 0; i < contexts; i++) {
      const random = shardRandom("held-out", length, PLANTED_STREAM + i);
      lines.push(...caseLines(0, length, plantedCase(random, length, tokenizer), tokenizer));
    }
    for (let i = 0; i < 4; i++) {
      const random = shardRandom("held-out", length, LIST_STREAM + i);
      lines.push(...caseLines(1, length, listCase(random, length, tokenizer), tokenizer));
    }
    const random = shardRandom("held-out", length, WINDOW_STREAM);
    const window = new Uint16Array(length);
    for (let i = 0; i < 16_384 / length; i++) {
      fillWindow(window, random, tokenizer);
      lines.push(`W ${length} ${window.join(" ")}`);
    }
  }
  lines.push(...skillLines(tokenizer));
  writeFileSync(out, `${lines.join("\n")}\n`);
  const count = (letter: string): number => lines.filter((line) => line.startsWith(letter)).length;
  console.log(`${out}: ${count("C")} contexts, ${count("Q")} questions, ${count("W")} windows`);
};

const [tokenizerPath, out] = process.argv.slice(2);
if (!tokenizerPath || !out) throw new Error("write-evaluation: give TOKENIZER.json and OUT");
main(tokenizerPath, out);

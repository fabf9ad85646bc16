import { DocumentBuilder, type Piece } from "./document.ts";
import { type Fact, freshFact, recall, state } from "./facts.ts";
import { code, fullName } from "./phrases.ts";
import type { Random } from "./random.ts";
import { Story } from "./stories.ts";
import type { Tokenizer } from "./tokenizer.ts";

export const LENGTHS = [512, 1024, 2048, 4096] as const;
export const QUESTIONS_PER_CONTEXT = 32;
const ROOM_FOR_A_QUESTION = 72;

export interface Question {
  readonly question: string;
  readonly reply: readonly Piece[];
}
export interface Case {
  /** The open user turn: everything before the blank line and the question. */
  readonly context: string;
  readonly questions: readonly Question[];
}

const textOf = (pieces: readonly Piece[]): string => pieces.map((piece) => piece.text).join("");
export const questionText = ({ question }: Question): string =>
  `\n\n${question}<|im_end|>\n<|im_start|>assistant\n`;
export const replyText = ({ reply }: Question): string => `${textOf(reply)}<|im_end|>`;

/** A story with facts in it, evenly spread, that fits `length` tokens together with any one of its questions. */
export const plantedCase = (random: Random, length: number, tokenizer: Tokenizer): Case => {
  const room = length - ROOM_FOR_A_QUESTION;
  const story = new Story(random);
  const facts: Fact[] = [];
  const taken = new Set<string>();
  const builder = new DocumentBuilder().add("<|im_start|>user\n");
  let tokens = tokenizer.encode("<|im_start|>user\n").length;
  const count = Math.min(QUESTIONS_PER_CONTEXT, Math.floor(length / 64));
  for (;;) {
    const due = facts.length < count && tokens >= (facts.length * room) / count;
    const gap = builder.length > 20 ? " " : "";
    let text: string;
    if (due) {
      const fact = freshFact(random, taken);
      text = gap + textOf(state(random, fact));
      facts.push(fact);
    } else text = story.next();
    const size = tokenizer.encode(text).length;
    if (tokens + size > room) {
      if (due) facts.pop();
      break;
    }
    tokens += size;
    builder.add(text);
  }
  const questions = facts.map((fact) => ({ question: fact.questions[0]!, reply: recall(fact) }));
  return { context: builder.finish().text, questions };
};

/** Nothing but full names with codes, in a chat. */
export const listCase = (random: Random, length: number, tokenizer: Tokenizer): Case => {
  const room = length - ROOM_FOR_A_QUESTION;
  let context = "<|im_start|>user\nRemember this list:";
  let tokens = tokenizer.encode(context).length;
  const list = new Map<string, string>();
  for (;;) {
    const key = fullName(random);
    const value = code(random);
    if (list.has(key)) continue;
    const text = `\n${key}: ${value}`;
    const size = tokenizer.encode(text).length;
    if (tokens + size > room) break;
    tokens += size;
    context += text;
    list.set(key, value);
  }
  const questions = random.sample([...list], QUESTIONS_PER_CONTEXT).map(([key, value]) => ({
    question: `What is the value of ${key}?`,
    reply: [{ text: `The value of ${key} is ${value}.`, kind: 1 as const }],
  }));
  return { context, questions };
};

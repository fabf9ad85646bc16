import { answer, type Piece, prose } from "./document.ts";
import { capital, person, plural } from "./phrases.ts";
import type { Random } from "./random.ts";
import { ANIMALS, DRINKS, OBJECTS } from "./vocabulary.ts";

/** A sum with its result: operands of at most three digits, products up to 12 times 12, never below zero. */
export const sum = (random: Random): { text: string; result: number; words: string } => {
  const kind = random.int(0, 9);
  if (kind < 5) {
    const high = random.pick([9, 20, 99, 999]);
    const a = random.int(0, high);
    const b = random.int(0, high);
    return { text: `${a} + ${b}`, result: a + b, words: `${a} plus ${b}` };
  }
  if (kind < 8) {
    const high = random.pick([9, 20, 99, 999]);
    const a = random.int(0, high);
    const b = random.int(0, a);
    return { text: `${a} - ${b}`, result: a - b, words: `${a} minus ${b}` };
  }
  const a = random.int(0, 12);
  const b = random.int(0, 12);
  return { text: `${a} * ${b}`, result: a * b, words: `${a} times ${b}` };
};

/** A question with its reply. */
export interface Exchange {
  readonly question: string;
  readonly reply: readonly Piece[];
}

export const sumExchange = (random: Random): Exchange => {
  const { text, result, words } = sum(random);
  const spoken = random.chance(0.3);
  const shown = spoken ? words : text;
  const question = random.pick([`What is ${shown}?`, `How much is ${shown}?`, `${capital(shown)} = ?`]);
  const link = spoken ? "is" : "=";
  return { question, reply: [prose(`${shown} ${link}`), answer(` ${result}`), prose(".")] };
};

export const wordProblem = (random: Random): Exchange => {
  const who = person(random);
  const what = plural(random.pick(random.chance(0.6) ? OBJECTS : ANIMALS));
  const a = random.int(2, 40);
  if (random.chance(0.5)) {
    const b = random.int(2, 40);
    const more = random.pick(["finds", "buys", "gets", "is given"]);
    return {
      question: `${who.name} has ${a} ${what} and ${more} ${b} more. How many ${what} does ${who.he} have now?`,
      reply: [prose(`${who.name} has ${a} + ${b} =`), answer(` ${a + b}`), prose(` ${what}.`)],
    };
  }
  const b = random.int(1, a);
  const less = random.pick(["loses", "sells", "gives away", "breaks"]);
  return {
    question: `${who.name} has ${a} ${what} and ${less} ${b}. How many ${what} are left?`,
    reply: [prose(`${a} - ${b} =`), answer(` ${a - b}`), prose(`, so ${a - b} ${what} are left.`)],
  };
};

export const comparison = (random: Random): Exchange => {
  const high = random.pick([20, 100, 1000]);
  const a = random.int(0, high);
  let b = random.int(0, high);
  if (b === a) b++;
  const larger = random.chance(0.5);
  const result = larger ? Math.max(a, b) : Math.min(a, b);
  const word = larger ? "larger" : "smaller";
  return { question: `Which is ${word}, ${a} or ${b}?`, reply: [answer(`${result}`), prose(` is ${word}.`)] };
};

export const counting = (random: Random): Exchange => {
  const step = random.pick([1, 1, 1, 2, 5, 10]);
  const from = random.int(0, 50) * (step === 1 ? 1 : step);
  const run = Array.from({ length: random.int(4, 9) }, (_, i) => from + i * step);
  const last = run[run.length - 1]!;
  const by = step === 1 ? "" : ` in steps of ${step}`;
  return { question: `Count from ${from} to ${last}${by}.`, reply: [answer(run.join(", ")), prose(".")] };
};

export const order = (random: Random): Exchange => {
  const drink = random.pick(DRINKS);
  const cups = random.int(2, 9);
  const each = random.int(1, 9);
  return {
    question: `One cup of ${drink} costs ${each} coins. What do ${cups} cups cost?`,
    reply: [
      prose(`${cups} * ${each} =`),
      answer(` ${cups * each}`),
      prose(`, so they cost ${cups * each} coins.`),
    ],
  };
};

import type { Exchange } from "./arithmetic.ts";
import { answer, prose } from "./document.ts";
import { article, capital, listing, plural } from "./phrases.ts";
import type { Random } from "./random.ts";
import * as words from "./vocabulary.ts";

const CATEGORIES: readonly (readonly [one: string, many: string, list: readonly string[]])[] = [
  ["animal", "animals", words.ANIMALS],
  ["colour", "colours", words.COLOURS],
  ["job", "jobs", words.JOBS],
  ["sport", "sports", words.SPORTS],
  ["musical instrument", "musical instruments", words.INSTRUMENTS],
  ["month", "months", words.MONTHS],
  ["day of the week", "days of the week", words.DAYS],
  ["season", "seasons", words.SEASONS],
  ["food", "foods", words.FOODS],
  ["drink", "drinks", words.DRINKS],
  ["school subject", "school subjects", words.SUBJECTS],
];
const COUNTS = ["", "one", "two", "three", "four", "five"];
/** Kinds of which a member takes an article: "a fox is an animal", "green is a colour". */
const COUNTABLE = new Set(["animal", "job", "musical instrument"]);

export const nameSome = (random: Random): Exchange => {
  const [one, many, list] = random.pick(CATEGORIES);
  const count = random.int(1, 4);
  const items = random.sample(list, count);
  const what = count === 1 ? one : many;
  const question = random.pick([
    `Name ${COUNTS[count]!} ${what}.`,
    `Give me ${COUNTS[count]!} ${what}.`,
    `Can you name ${COUNTS[count]!} ${what}?`,
  ]);
  return { question, reply: [prose(`${capital(listing(items))}.`)] };
};

export const isA = (random: Random): Exchange => {
  const kind = random.pick(CATEGORIES);
  const asked = random.chance(0.5) ? kind : random.pick(CATEGORIES);
  const word = random.pick(kind[2]);
  const subject = COUNTABLE.has(kind[0]) ? article(word) : word;
  const yes = asked[2].includes(word);
  const verb = kind[0] === "food" && word.endsWith("s") ? "Are" : "Is";
  const object = verb === "Are" ? asked[1] : article(asked[0]);
  const said = verb === "Are" ? (yes ? "are" : "are not") : yes ? "is" : "is not";
  return {
    question: `${verb} ${subject} ${object}?`,
    reply: [answer(yes ? "Yes" : "No"), prose(`, ${subject} ${said} ${object}.`)],
  };
};

export const spell = (random: Random): Exchange => {
  const word = random.pick(words.PLAIN_WORDS);
  return {
    question: random.pick([`Spell the word ${word}.`, `How do you spell ${word}?`]),
    reply: [answer([...word].join("-")), prose(".")],
  };
};

export const parity = (random: Random): Exchange => {
  const number = random.int(0, 999);
  const asked = random.pick(["even", "odd"]);
  const kind = number % 2 === 0 ? "even" : "odd";
  return {
    question: `Is ${number} ${asked}?`,
    reply: [answer(asked === kind ? "Yes" : "No"), prose(`, ${number} is`), answer(` ${kind}`), prose(".")],
  };
};

export const sortNumbers = (random: Random): Exchange => {
  const numbers = Array.from({ length: random.int(3, 5) }, () => random.int(0, 99));
  const sorted = numbers.slice().sort((a, b) => a - b);
  return {
    question: `Sort these numbers: ${numbers.join(", ")}`,
    reply: [answer(sorted.join(", ")), prose(".")],
  };
};

export const manyOf = (random: Random): Exchange => {
  const word = random.pick([...words.ANIMALS, ...words.OBJECTS.filter((object) => !object.endsWith("s"))]);
  return {
    question: `What is the plural of ${word}?`,
    reply: [prose(`The plural of ${word} is`), answer(` ${plural(word)}`), prose(".")],
  };
};

export const repeat = (random: Random): Exchange => {
  const text = random.sample(words.PLAIN_WORDS, random.int(1, 7)).join(" ");
  return {
    question: random.pick([`Say "${text}".`, `Repeat after me: ${text}`, `Repeat this: ${text}`]),
    reply: [answer(text)],
  };
};

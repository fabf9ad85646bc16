import type { Fact } from "./facts.ts";
import { capital, code, digits, fullName, inventedWord, person, thing } from "./phrases.ts";
import type { Random } from "./random.ts";
import * as words from "./vocabulary.ts";

type Maker = (random: Random) => Fact;

const mine: readonly (readonly [string, (random: Random) => string])[] = [
  ["favourite colour", (random) => random.pick(words.COLOURS)],
  ["favourite food", (random) => random.pick(words.FOODS)],
  ["favourite animal", (random) => `the ${random.pick(words.ANIMALS)}`],
  ["favourite sport", (random) => random.pick(words.SPORTS)],
  ["favourite season", (random) => random.pick(words.SEASONS)],
  ["favourite number", (random) => digits(random, 1, 3)],
  ["lucky number", (random) => digits(random, 1, 3)],
  ["name", (random) => (random.chance(0.3) ? fullName(random) : person(random).name)],
  ["surname", (random) => random.pick(words.SURNAMES)],
  ["home town", (random) => random.pick(words.TOWNS)],
  ["job", (random) => random.pick(words.JOBS)],
  ["password", (random) => (random.chance(0.5) ? inventedWord(random) : code(random))],
  ["phone number", (random) => digits(random, 4, 8)],
  ["room number", (random) => digits(random, 2, 4)],
  ["locker code", code],
  ["best friend", (random) => person(random).name],
  ["teacher", fullName],
  ["birthday", (random) => `${random.int(1, 28)} ${random.pick(words.MONTHS)}`],
  ["user name", (random) => inventedWord(random) + digits(random, 1, 2)],
  ["seat", (random) => digits(random, 1, 2) + random.pick([..."ABCDEF"])],
];

const myAttribute: Maker = (random) => {
  const [what, value] = random.pick(mine);
  return {
    key: `my ${what}`,
    value: value(random),
    statements: [`My ${what} is @.`, `My ${what} is @.`, `Please remember that my ${what} is @.`],
    questions: [`What is my ${what}?`, `Tell me my ${what}.`, `Do you know my ${what}?`],
    reply: `Your ${what} is @.`,
  };
};

const myPet: Maker = (random) => {
  const kind = random.pick([...words.ANIMALS, ...words.SIBLINGS]);
  return {
    key: `my ${kind}`,
    value: random.chance(0.3) ? capital(inventedWord(random)) : person(random).name,
    statements: [`My ${kind} is called @.`, `I have a ${kind} called @.`, `The name of my ${kind} is @.`],
    questions: [`What is my ${kind} called?`, `What is the name of my ${kind}?`],
    reply: `Your ${kind} is called @.`,
  };
};

const myPlace: Maker = (random) => {
  const [verb, list] = random.pick([
    ["live", words.TOWNS] as const,
    ["was born", words.TOWNS] as const,
    ["work", words.TOWNS] as const,
  ]);
  const past = verb === "was born";
  return {
    key: `I ${verb}`,
    value: `in ${random.pick(list)}`,
    statements: [`I ${verb} @.`],
    questions: [past ? "Where was I born?" : `Where do I ${verb}?`],
    reply: past ? "You were born @." : `You ${verb} @.`,
  };
};

const myThing: Maker = (random) => {
  const subject = thing(random);
  const value = `in the ${random.pick(random.chance(0.5) ? words.CONTAINERS : words.ROOMS)}`;
  return {
    key: `my ${subject}`,
    value,
    statements: [`I put my ${subject} @.`, `I left my ${subject} @.`, `My ${subject} is @.`],
    questions: [`Where is my ${subject}?`, `Where did I put my ${subject}?`],
    reply: `Your ${subject} is @.`,
  };
};

const bare: Maker = (random) => {
  const [what, value] = random.pick<readonly [string, (random: Random) => string]>([
    ["secret number", (inner) => digits(inner, 2, 7)],
    ["secret code", code],
    ["magic word", inventedWord],
    ["secret word", (inner) => inner.pick(words.PLAIN_WORDS)],
    ["password", (inner) => (inner.chance(0.5) ? inventedWord(inner) : code(inner))],
    ["special number", (inner) => digits(inner, 2, 7)],
    ["key", code],
    ["winner", fullName],
    ["number", (inner) => digits(inner, 2, 6)],
    ["answer", (inner) => inner.pick(words.PLAIN_WORDS)],
    ["colour of the day", (inner) => inner.pick(words.COLOURS)],
    ["capital of the island", (inner) => capital(inventedWord(inner))],
  ]);
  return {
    key: what,
    value: value(random),
    statements: [`The ${what} is @.`, `Remember this: the ${what} is @.`, `Remember the ${what}: @.`],
    questions: [`What is the ${what}?`, `What was the ${what}?`, `Tell me the ${what}.`],
    reply: `The ${what} is @.`,
  };
};

/** Facts about the user and about things that need no name. Their keys are few, so a document holds few of them. */
export const personalFact: Maker = (random) =>
  random.weighted<Maker>([
    [myAttribute, 5],
    [myPet, 2],
    [myPlace, 1],
    [myThing, 2],
    [bare, 3],
  ])(random);

import { answer, noise, type Piece, prose } from "./document.ts";
import { openFact } from "./open-facts.ts";
import { personalFact } from "./personal-facts.ts";
import { article, capital, code, digits, fullName, inventedWord, person, plural, thing } from "./phrases.ts";
import type { Random } from "./random.ts";
import * as words from "./vocabulary.ts";

/**
 * Something to remember. `statements` and `replies` are sentences with `@` where the value stands, `questions`
 * ask for it. `key` identifies what is asked, so that a document holds no two answers to one question.
 */
export interface Fact {
  readonly key: string;
  readonly value: string;
  readonly statements: readonly string[];
  readonly questions: readonly string[];
  readonly reply: string;
}

type Maker = (random: Random) => Fact;

const codeNouns = "code, number, serial number, secret code, entry code, order number, label".split(", ");
const secretNouns = "password, passphrase, secret word, code word, magic word".split(", ");

const objectCode: Maker = (random) => {
  const subject = thing(random);
  const noun = random.pick(codeNouns);
  const link = random.pick(["of", "of", "for"]);
  return {
    key: `${noun} ${subject}`,
    value: code(random),
    statements: [
      `The ${noun} ${link} the ${subject} is @.`,
      `The ${noun} ${link} the ${subject} is @.`,
      `Remember that the ${noun} ${link} the ${subject} is @.`,
      `@ is the ${noun} ${link} the ${subject}.`,
    ],
    questions: [`What is the ${noun} ${link} the ${subject}?`, `Tell me the ${noun} ${link} the ${subject}.`],
    reply: `The ${noun} ${link} the ${subject} is @.`,
  };
};

const secretWord: Maker = (random) => {
  const subject = random.chance(0.5)
    ? `the ${random.pick(words.ROOMS)} in ${random.pick(words.TOWNS)}`
    : `the ${thing(random)}`;
  const noun = random.pick(secretNouns);
  const value = random.chance(0.5) ? inventedWord(random) : random.pick(words.PLAIN_WORDS);
  return {
    key: `${noun} ${subject}`,
    value,
    statements: [`The ${noun} for ${subject} is @.`, `To open ${subject}, the ${noun} is @.`],
    questions: [`What is the ${noun} for ${subject}?`, `Which ${noun} goes with ${subject}?`],
    reply: `The ${noun} for ${subject} is @.`,
  };
};

const attributes: readonly (readonly [string, (random: Random) => string])[] = [
  ["favourite colour", (random) => random.pick(words.COLOURS)],
  ["favourite food", (random) => random.pick(words.FOODS)],
  ["favourite drink", (random) => random.pick(words.DRINKS)],
  ["favourite animal", (random) => `the ${random.pick(words.ANIMALS)}`],
  ["favourite sport", (random) => random.pick(words.SPORTS)],
  ["favourite subject", (random) => random.pick(words.SUBJECTS)],
  ["favourite season", (random) => random.pick(words.SEASONS)],
  ["favourite day", (random) => random.pick(words.DAYS)],
  ["home town", (random) => random.pick(words.TOWNS)],
  ["job", (random) => random.pick(words.JOBS)],
  ["lucky number", (random) => digits(random, 1, 3)],
  ["room number", (random) => digits(random, 2, 3)],
  ["phone number", (random) => digits(random, 5, 7)],
  ["locker number", (random) => digits(random, 2, 4)],
  ["surname", (random) => random.pick(words.SURNAMES)],
  ["birth month", (random) => random.pick(words.MONTHS)],
  ["instrument", (random) => `the ${random.pick(words.INSTRUMENTS)}`],
  ["password", (random) => (random.chance(0.5) ? inventedWord(random) : code(random))],
  ["best friend", (random) => person(random).name],
  ["middle name", (random) => person(random).name],
  ["user name", (random) => inventedWord(random) + digits(random, 1, 2)],
];

const personAttribute: Maker = (random) => {
  const who = random.chance(0.3) ? fullName(random) : person(random).name;
  const [attribute, value] = random.pick(attributes);
  return {
    key: `${who} ${attribute}`,
    value: value(random),
    statements: [
      `${who}'s ${attribute} is @.`,
      `${who}'s ${attribute} is @.`,
      `The ${attribute} of ${who} is @.`,
    ],
    questions: [`What is ${who}'s ${attribute}?`, `Tell me ${who}'s ${attribute}.`],
    reply: `${who}'s ${attribute} is @.`,
  };
};

const relation: Maker = (random) => {
  const who = person(random).name;
  const kind = random.pick([...words.SIBLINGS, ...["cat", "dog", "horse", "parrot", "boat"]]);
  return {
    key: `${who} ${kind}`,
    value: random.chance(0.2) ? capital(inventedWord(random)) : person(random).name,
    statements: [`${who}'s ${kind} is called @.`, `The name of ${who}'s ${kind} is @.`],
    questions: [`What is ${who}'s ${kind} called?`, `What is the name of ${who}'s ${kind}?`],
    reply: `${who}'s ${kind} is called @.`,
  };
};

const place: Maker = (random) => {
  const subject = thing(random);
  const value = random.chance(0.5)
    ? `in the ${random.pick(words.CONTAINERS)}`
    : random.pick([`in the ${random.pick(words.ROOMS)}`, `near the ${random.pick(words.LANDSCAPES)}`]);
  const who = person(random).name;
  return {
    key: `where ${subject}`,
    value,
    statements: [`The ${subject} is @.`, `${who} put the ${subject} @.`, `You can find the ${subject} @.`],
    questions: [`Where is the ${subject}?`, `Where can I find the ${subject}?`],
    reply: `The ${subject} is @.`,
  };
};

const owner: Maker = (random) => {
  const subject = thing(random);
  return {
    key: `owner ${subject}`,
    value: random.chance(0.4) ? fullName(random) : person(random).name,
    statements: [`The ${subject} belongs to @.`, `The owner of the ${subject} is @.`],
    questions: [`Who owns the ${subject}?`, `Who does the ${subject} belong to?`],
    reply: `The ${subject} belongs to @.`,
  };
};

const price: Maker = (random) => {
  const subject = thing(random);
  return {
    key: `price ${subject}`,
    value: `${digits(random, 1, 4)} coins`,
    statements: [`The ${subject} costs @.`, `The price of the ${subject} is @.`],
    questions: [`How much does the ${subject} cost?`, `What is the price of the ${subject}?`],
    reply: `The ${subject} costs @.`,
  };
};

const count: Maker = (random) => {
  const what = plural(random.pick(random.chance(0.5) ? words.ANIMALS : words.OBJECTS));
  const where = `the ${random.pick(words.ROOMS)} in ${random.pick(words.TOWNS)}`;
  return {
    key: `count ${what} ${where}`,
    value: digits(random, 1, 3),
    statements: [`In ${where} there are @ ${what}.`, `In ${where} you can count @ ${what}.`],
    questions: [`How many ${what} are there in ${where}?`],
    reply: `In ${where} there are @ ${what}.`,
  };
};

const timetable: Maker = (random) => {
  const subject = random.chance(0.5)
    ? `${random.pick(words.EVENTS)} in ${random.pick(words.TOWNS)}`
    : `${random.pick(["train", "bus", "boat", "coach"])} to ${random.pick(words.TOWNS)}`;
  const time = random.chance(0.6)
    ? `at ${random.int(1, 23)}:${String(random.int(0, 11) * 5).padStart(2, "0")}`
    : `on ${random.pick(words.DAYS)}`;
  const verb = subject.includes(" to ") ? "leaves" : "starts";
  return {
    key: `when ${subject}`,
    value: time,
    statements: [`The ${subject} ${verb} @.`, `Note that the ${subject} ${verb} @.`],
    questions: [`When does the ${subject} ${verb.slice(0, -1)}?`],
    reply: `The ${subject} ${verb} @.`,
  };
};

const material: Maker = (random) => {
  const subject = `${random.pick(words.OBJECTS)} of ${fullName(random)}`;
  const [what, list] = random.pick([
    ["made of", words.MATERIALS] as const,
    ["painted", words.COLOURS] as const,
    ["worth", ["a fortune", "nothing", "a little", "a great deal", "ten coins"]] as const,
  ]);
  return {
    key: `${what} ${subject}`,
    value: random.pick(list),
    statements: [`The ${subject} is ${what} @.`],
    questions: [
      what === "painted" ? `What colour is the ${subject} painted?` : `What is the ${subject} ${what}?`,
    ],
    reply: `The ${subject} is ${what} @.`,
  };
};

const makers: readonly (readonly [Maker, number])[] = [
  [objectCode, 5],
  [secretWord, 3],
  [personAttribute, 6],
  [relation, 2],
  [place, 3],
  [owner, 2],
  [price, 1],
  [count, 1],
  [timetable, 2],
  [material, 1],
];

/** A fact whose key is not in `taken` yet; the key is added. */
export const freshFact = (random: Random, taken: Set<string>): Fact => {
  for (let tries = 0; ; tries++) {
    // The personal ones run out in a long document.
    const personal = tries < 3 && random.chance(0.2);
    const fact = personal
      ? personalFact(random)
      : random.chance(0.4)
        ? openFact(random)
        : random.weighted(makers)(random);
    if (taken.has(fact.key)) continue;
    taken.add(fact.key);
    return fact;
  }
};

const fill = (sentence: string, value: string, mark: (text: string) => Piece): Piece[] => {
  const at = sentence.indexOf("@");
  // The space before a value belongs to its first token.
  const cut = at > 0 && sentence[at - 1] === " " ? at - 1 : at;
  return [
    prose(sentence.slice(0, cut)),
    mark(sentence.slice(cut, at) + value),
    prose(sentence.slice(at + 1)),
  ];
};

/** The fact as told: its value is noise to the loss. */
export const state = (random: Random, fact: Fact): Piece[] =>
  fill(random.pick(fact.statements), fact.value, noise);

/** The fact as recalled, in a whole sentence. */
export const recall = (fact: Fact): Piece[] => fill(fact.reply, fact.value, answer);

/** A user's question, now and then with a polite opening. */
export const ask = (random: Random, fact: Fact): string => {
  const question = random.pick(fact.questions);
  if (random.chance(0.08)) return `I forgot something. ${question}`;
  if (!random.chance(0.15) || question.startsWith("Tell")) return question;
  const opening = random.pick([
    "Can you tell me: ",
    "One question. ",
    "Please answer. ",
    "Do you remember? ",
  ]);
  return opening + (opening.endsWith(": ") ? question.charAt(0).toLowerCase() + question.slice(1) : question);
};

/** "a red kettle", for prose. */
export const aThing = (random: Random): string => article(thing(random));

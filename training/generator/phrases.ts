import type { Random } from "./random.ts";
import { ADJECTIVES, COLOURS, MATERIALS, MEN, OBJECTS, SURNAMES, WOMEN } from "./vocabulary.ts";

const ONSETS = "b br c ch d dr f fl g gl gr h j k kr l m n p pl qu r s sh sk st t th tr v w y z".split(" ");
const VOWELS = "a e i o u ai ea ee ia io oo ou".split(" ");
const CODAS = ["", "", "", "b", "d", "k", "l", "m", "n", "nd", "nt", "r", "rk", "s", "st", "t", "x"];

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
export const article = (noun: string): string =>
  (/^[aeiou]/i.test(noun) && !/^(un[ai]|eu|one|use)/i.test(noun) ? "an " : "a ") + noun;
export const plural = (noun: string): string => {
  if (/(s|x|ch|sh)$/.test(noun)) return `${noun}es`;
  if (/[^aeiou]y$/.test(noun)) return `${noun.slice(0, -1)}ies`;
  if (/(kni|wol|shel|lea)fe?$/.test(noun)) return noun.replace(/fe?$/, "ves");
  const irregular: Record<string, string> = { mouse: "mice", goose: "geese", deer: "deer", sheep: "sheep" };
  return irregular[noun] ?? `${noun}s`;
};

const RUDE = /shit|kun[td]|fag|nig|rap[ei]|tit|ass|pis|poo|pee|nazi|slut|tard|sex|jew|gai|dik|kok/;

/** A word that nobody has used: two or three syllables, none of them rude. */
export const inventedWord = (random: Random): string => {
  for (;;) {
    let word = "";
    for (let i = random.int(2, 3); i > 0; i--) word += random.pick(ONSETS) + random.pick(VOWELS);
    word += random.pick(CODAS);
    if (!RUDE.test(word)) return word;
  }
};

export const digits = (random: Random, low: number, high: number): string => {
  let text = String(random.int(1, 9));
  for (let i = random.int(low, high); i > 1; i--) text += String(random.int(0, 9));
  return text;
};

const letters = "ABCDEFGHJKLMNPQRSTUVWXYZ";
/** A code such as 48213, KX-471, B7Q2 or 3f9a1c. */
export const code = (random: Random): string => {
  switch (random.int(0, 6)) {
    case 0: {
      let text = "";
      for (let i = random.int(4, 7); i > 0; i--)
        text += random.chance(0.5) ? random.pick([..."0123456789"]) : random.pick([...letters]);
      return text;
    }
    case 1:
      return `${random.pick([...letters])}${random.pick([...letters])}-${digits(random, 2, 4)}`;
    case 2: {
      let text = "";
      for (let i = random.int(5, 8); i > 0; i--) text += random.pick([..."0123456789abcdef"]);
      return text;
    }
    default:
      return digits(random, 3, 6);
  }
};

export interface Person {
  readonly name: string;
  readonly he: string;
  readonly him: string;
  readonly his: string;
}

export const person = (random: Random): Person => {
  const woman = random.chance(0.5);
  const name = random.chance(0.06) ? capital(inventedWord(random)) : random.pick(woman ? WOMEN : MEN);
  return woman ? { name, he: "she", him: "her", his: "her" } : { name, he: "he", him: "him", his: "his" };
};

export const fullName = (random: Random): string =>
  `${person(random).name} ${random.chance(0.15) ? capital(inventedWord(random)) : random.pick(SURNAMES)}`;

/** An object with a description: "old kettle", "red glass bowl". */
export const thing = (random: Random): string => {
  const object = random.pick(OBJECTS);
  const first = random.pick(random.chance(0.5) ? COLOURS : ADJECTIVES);
  return random.chance(0.12) ? `${first} ${random.pick(MATERIALS)} ${object}` : `${first} ${object}`;
};

/** "a, b and c" */
export const listing = (items: readonly string[]): string =>
  items.length < 2 ? (items[0] ?? "") : `${items.slice(0, -1).join(", ")} and ${items[items.length - 1]!}`;

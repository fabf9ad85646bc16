import { dialogue, worksheet } from "./dialogues.ts";
import { type Document, DocumentBuilder } from "./document.ts";
import { jsonArray } from "./json-documents.ts";
import { Random } from "./random.ts";
import { CHARACTERS_PER_TOKEN, keyValueList, notes, plantedFacts, repetition } from "./recall-documents.ts";
import { ShortText } from "./short-texts.ts";
import { Story } from "./stories.ts";

/** The two halves of the generator's seeds. They share no stream. */
export type Split = "train" | "held-out";
const SPLIT_SEED: Readonly<Record<Split, number>> = { train: 0x7261696e, "held-out": 0x68656c64 };

/** The random stream of one shard of windows of `length` tokens. */
export const shardRandom = (split: Split, length: number, shard: number): Random =>
  new Random(SPLIT_SEED[split], length, shard);

export type Maker = (random: Random, size: number) => Document;

/** A plain story, or plain text of another kind. */
export const story: Maker = (random, size) => {
  const builder = new DocumentBuilder();
  if (random.chance(0.3)) {
    const text = new ShortText(random);
    do builder.add(text.next());
    while (builder.length < size);
    return builder.finish();
  }
  const told = new Story(random);
  do builder.add(told.next());
  while (builder.length < size);
  return builder.add(told.end()).finish();
};

/** Shares of documents by kind, for documents that may be long and for those that may not. */
const LONG: readonly (readonly [Maker, number])[] = [
  [plantedFacts, 34],
  [keyValueList, 28],
  [notes, 10],
  [dialogue, 14],
  [jsonArray, 5],
  [story, 6],
  [repetition, 3],
];
const SHORT: readonly (readonly [Maker, number])[] = [
  [plantedFacts, 22],
  [keyValueList, 22],
  [notes, 8],
  [dialogue, 30],
  [jsonArray, 4],
  [story, 8],
  [repetition, 3],
  [worksheet, 3],
];

/**
 * One document for a window of `length` tokens: half of them nearly fill it, the others are of any size below.
 */
export const nextDocument = (random: Random, length: number): Document => {
  const full = length * CHARACTERS_PER_TOKEN;
  const long = random.chance(0.5);
  const size = long ? full * (0.75 + 0.2 * random.uniform()) : full * random.uniform() ** 2 * 0.6 + 80;
  const make = random.weighted(size > 3000 ? LONG : SHORT);
  return make(random, Math.round(size));
};

/** A short document, to fill the rest of a window. */
export const fillerDocument = (random: Random, size: number): Document =>
  random.weighted<Maker>([
    [dialogue, 6],
    [worksheet, 2],
    [story, 1],
  ])(random, size);

import { type Document, END_OF_TEXT } from "./document.ts";
import { fillerDocument, nextDocument } from "./mixture.ts";
import type { Random } from "./random.ts";
import { CHARACTERS_PER_TOKEN } from "./recall-documents.ts";
import type { Tokenizer } from "./tokenizer.ts";

/** A token id in the low 12 bits, the kind of its span in the bits above. */
export const KIND_SHIFT = 12;

/** The tokens of a document, packed as above, without an end of text. */
export const packedTokens = (document: Document, tokenizer: Tokenizer): number[] => {
  const out: number[] = [];
  let span = 0;
  tokenizer.forEachToken(document.text, (id, offset) => {
    while (document.ends[span]! <= offset) span++;
    out.push(id | (document.kinds[span]! << KIND_SHIFT));
  });
  return out;
};

/**
 * Fills one window of `length` tokens with whole documents, each closed by an end of text. Only the last document
 * of a window may be cut.
 */
export const fillWindow = (window: Uint16Array, random: Random, tokenizer: Tokenizer): void => {
  const length = window.length;
  const end = tokenizer.special(END_OF_TEXT);
  let at = 0;
  const append = (tokens: readonly number[]): void => {
    for (let i = 0; i < tokens.length && at < length; i++) window[at++] = tokens[i]!;
    if (at < length) window[at++] = end;
  };
  let misses = 0;
  while (misses < 2) {
    const tokens = packedTokens(nextDocument(random, length), tokenizer);
    if (at + tokens.length < length) append(tokens);
    else misses++;
  }
  while (at < length) {
    const room = (length - at) * CHARACTERS_PER_TOKEN;
    append(packedTokens(fillerDocument(random, Math.min(room, 1200)), tokenizer));
  }
};

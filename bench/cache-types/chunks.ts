import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Inference } from "eliza-inference";
import { nextDocument, shardRandom } from "../../training/generator/mixture.ts";

/** English technical prose of our own, and the pages on the formats and the command line as they once were. */
export const TEXT = fileURLToPath(new URL("./text.txt", import.meta.url));

/** Names documents like those that models/pico was trained on, from a stream that training never saw. */
export const GENERATED = "generated";
const GENERATED_STREAM = 4_000_000;
const GENERATED_CHARACTERS = 80_000;

function generate(): string {
  const random = shardRandom("held-out", 4096, GENERATED_STREAM);
  let text = "";
  while (text.length < GENERATED_CHARACTERS) text += nextDocument(random, 2048).text;
  return text;
}

export interface Chunks {
  file: string;
  count: number;
  /** positions that are scored in all */
  scored: number;
  /** sha256 over the tokens, 16 digits */
  hash: string;
}

/**
 * Cuts the texts, one after the other, into `count` pieces of `length` positions and a token to predict after the last, tokenized
 * by the model's own runtime, each with the begin token where the model wants one. Throws if the text is too short.
 */
export async function writeChunks(
  inference: Inference,
  file: string,
  { texts, start, length, count }: { texts: readonly string[]; start: number; length: number; count: number },
): Promise<Chunks> {
  const contents = await Promise.all(
    texts.map((path) => (path === GENERATED ? generate() : readFile(path, "utf8"))),
  );
  const ids = await inference.tokenize(contents.join("\n"), { parseSpecial: true });
  const lines = await cutPieces(inference, ids, { from: texts.join(", "), length, count });
  const text = `${lines.join("\n")}\n`;
  await writeFile(file, text);
  return {
    file,
    count,
    scored: count * (length - start),
    hash: createHash("sha256").update(text).digest("hex").slice(0, 16),
  };
}

/**
 * Tokens as lines of decimal ids, `count` pieces of `length` positions and a token to predict after the last, each with
 * the begin token where the model wants one. Throws if there are too few.
 */
export async function cutPieces(
  inference: Inference,
  ids: Int32Array,
  { from, length, count }: { from: string; length: number; count: number },
): Promise<string[]> {
  const { addBos } = inference.report().model;
  const begin = addBos ? await inference.tokenize("", { addSpecial: true }) : [];
  const each = length + 1 - begin.length;
  if (ids.length < each * count) {
    throw new Error(`${from} has ${ids.length} tokens; ${count} pieces of ${length} need ${each * count}`);
  }
  return Array.from({ length: count }, (_, at) =>
    [...begin, ...ids.subarray(at * each, (at + 1) * each)].join(" "),
  );
}

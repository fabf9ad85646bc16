import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Inference } from "eliza-inference";

const TEXT = fileURLToPath(new URL("./text.txt", import.meta.url));

export interface Chunks {
  file: string;
  count: number;
  /** positions that are scored in all */
  scored: number;
  /** sha256 over the tokens, 16 digits */
  hash: string;
}

/**
 * Cuts the benchmark's text into `count` pieces of `length` positions and a token to predict after the last, tokenized
 * by the model's own runtime, each with the begin token where the model wants one. Throws if the text is too short.
 */
export async function writeChunks(
  inference: Inference,
  file: string,
  { start, length, count }: { start: number; length: number; count: number },
): Promise<Chunks> {
  const ids = Array.from(await inference.tokenize(await readFile(TEXT, "utf8")));
  const { addBos } = inference.report().model;
  const begin = addBos ? Array.from(await inference.tokenize("", { addSpecial: true })) : [];
  const each = length + 1 - begin.length;
  if (ids.length < each * count) {
    throw new Error(`${TEXT} has ${ids.length} tokens; ${count} chunks of ${length} need ${each * count}`);
  }
  const lines = Array.from({ length: count }, (_, i) =>
    [...begin, ...ids.slice(i * each, (i + 1) * each)].join(" "),
  );
  const text = `${lines.join("\n")}\n`;
  await writeFile(file, text);
  return {
    file,
    count,
    scored: count * (length - start),
    hash: createHash("sha256").update(text).digest("hex").slice(0, 16),
  };
}

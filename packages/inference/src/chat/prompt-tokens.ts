import type { PromptPiece } from "./prompt-pieces.ts";

/** The tokens of a text by the model's vocabulary. */
export type Tokenize = (
  text: string,
  options: { addSpecial: boolean; parseSpecial: boolean },
) => Promise<Int32Array>;

/**
 * The tokens of a prompt whose markers are known already: text between them is read without markers.
 *
 * @param begin whether the model's begin token goes before, where the model wants one
 */
export async function promptTokens(
  pieces: readonly PromptPiece[],
  tokenize: Tokenize,
  begin: boolean,
): Promise<Int32Array> {
  const ids: number[] = begin
    ? [...(await tokenize("", { addSpecial: true, parseSpecial: false })).subarray(0, 1)]
    : [];
  for (const piece of pieces) {
    if ("token" in piece) ids.push(piece.token);
    else
      for (const id of await tokenize(piece.text, { addSpecial: false, parseSpecial: false })) ids.push(id);
  }
  return Int32Array.from(ids);
}

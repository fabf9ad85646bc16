/** A control token of the model, as the template's own text spells it. */
export interface ControlToken {
  id: number;
  text: string;
  /** The whitespace before it belongs to it. */
  leftStrip?: boolean;
  rightStrip?: boolean;
}

/** A piece of a prompt: a control token, or text in which nothing is one. */
export type PromptPiece = { token: number } | { text: string };

/**
 * A rendered prompt cut at the control tokens that the template wrote, as llama.cpp cuts it: the longest markers first.
 *
 * @param rendered with the stand-ins in what users wrote
 * @param restore turns a piece of it into the text that is meant
 */
export function cutPrompt(
  rendered: string,
  controls: readonly ControlToken[],
  restore: (text: string) => string,
): PromptPiece[] {
  let pieces: PromptPiece[] = [{ text: rendered }];
  const present = controls.filter(({ text }) => text !== "" && rendered.includes(text));
  for (const control of present.toSorted((a, b) => b.text.length - a.text.length)) {
    pieces = pieces.flatMap((piece) => ("text" in piece ? cutAt(piece.text, control) : [piece]));
  }
  return pieces
    .map((piece) => ("text" in piece ? { text: restore(piece.text) } : piece))
    .filter((piece) => !("text" in piece) || piece.text !== "");
}

function cutAt(text: string, control: ControlToken): PromptPiece[] {
  const parts = text.split(control.text);
  return parts.flatMap((part, index): PromptPiece[] => {
    let left = part;
    if (index > 0 && control.rightStrip) left = left.trimStart();
    if (index < parts.length - 1 && control.leftStrip) left = left.trimEnd();
    return index === 0 ? [{ text: left }] : [{ token: control.id }, { text: left }];
  });
}

import { Transform, type TransformCallback } from "node:stream";
import type { Input } from "./host.ts";

const opened = "\x1b[200~";
const closed = "\x1b[201~";
/** What the terminal shows for a line break in a message; the second character, of no width, tells it from a typed one. */
const shownBreak = "⏎\u2060";

/** Asks the terminal to say what is pasted (xterm's bracketed paste), and no more. */
export const bracketedPaste = { on: "\x1b[?2004h", off: "\x1b[?2004l" } as const;

/** A line as it was typed or pasted: with the line breaks that were shown. */
export function withBreaks(line: string): string {
  return line.replaceAll(shownBreak, "\n");
}

/**
 * A terminal's input in which what is pasted stays one line: readline ends a message at every line break it sees. Where
 * the terminal does not say what is pasted, a piece of input that goes on behind a line break is taken for it, since keys
 * arrive one by one.
 */
export class PastedLines extends Transform {
  readonly isTTY = true;
  readonly #terminal: Input & { setRawMode?(mode: boolean): unknown };
  #inPaste = false;
  /** What only the next piece can tell: the beginning of a marker, line breaks that may end what is pasted. */
  #held = "";

  constructor(terminal: Input) {
    super({ decodeStrings: false, encoding: "utf8" });
    this.#terminal = terminal;
  }

  /** readline asks for it where there is a terminal. */
  setRawMode(mode: boolean): this {
    this.#terminal.setRawMode?.(mode);
    return this;
  }

  override _transform(piece: Buffer | string, _encoding: string, done: TransformCallback): void {
    const all = this.#held + piece.toString();
    this.#held = unfinished(all);
    let text = all.slice(0, all.length - this.#held.length);
    let out = "";
    while (text !== "") {
      const marker = this.#inPaste ? closed : opened;
      const at = text.indexOf(marker);
      const part = at < 0 ? text : text.slice(0, at);
      text = at < 0 ? "" : text.slice(at + marker.length);
      if (!this.#inPaste) out += typed(part);
      else if (at >= 0) out += joined(part.replace(/[\r\n]+$/, ""));
      else {
        // Line breaks that end what is pasted go; whether these do is not known yet.
        const breaks = /[\r\n]+$/.exec(part)?.[0] ?? "";
        out += joined(part.slice(0, part.length - breaks.length));
        this.#held = breaks + this.#held;
      }
      if (at >= 0) this.#inPaste = !this.#inPaste;
    }
    done(null, out);
  }
}

/** The end of a text that may be the beginning of a marker; an escape alone, or with a bracket, is a key. */
function unfinished(text: string): string {
  for (const marker of [opened, closed]) {
    for (let length = marker.length - 1; length > 2; length--) {
      if (text.endsWith(marker.slice(0, length))) return marker.slice(0, length);
    }
  }
  return "";
}

function typed(text: string): string {
  const goesOn = /[\r\n]+[^\r\n]/.test(text);
  if (!goesOn) return text;
  const end = /[\r\n]+$/.exec(text)?.[0] ?? "";
  return joined(text.slice(0, text.length - end.length)) + (end === "" ? "" : "\r");
}

function joined(text: string): string {
  return text.replace(/\r\n|\r|\n/g, shownBreak).replaceAll("\t", "    ");
}

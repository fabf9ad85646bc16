/** What a stretch of text is to the training loss. */
export const SPAN = { prose: 0, answer: 1, noise: 2 } as const;
export type SpanKind = (typeof SPAN)[keyof typeof SPAN];

export const END_OF_TEXT = "<|endoftext|>";
export const TURN_START = "<|im_start|>";
export const TURN_END = "<|im_end|>";
export type Role = "system" | "user" | "assistant";

/** A finished document: ASCII text, and for each span where it ends (exclusive) and what it is. */
export interface Document {
  readonly text: string;
  readonly ends: readonly number[];
  readonly kinds: readonly SpanKind[];
}

/**
 * Text under construction. `answer` marks what can be known from the text before it (weighted up in training),
 * `noise` what nobody could foresee, such as the code in a planted fact (weighted down).
 */
export class DocumentBuilder {
  #text = "";
  readonly #ends: number[] = [];
  readonly #kinds: SpanKind[] = [];

  /** Characters so far. */
  get length(): number {
    return this.#text.length;
  }

  #append(text: string, kind: SpanKind): this {
    if (text === "") return this;
    this.#text += text;
    const last = this.#kinds.length - 1;
    if (last >= 0 && this.#kinds[last] === kind) {
      this.#ends[last] = this.#text.length;
    } else {
      this.#ends.push(this.#text.length);
      this.#kinds.push(kind);
    }
    return this;
  }

  add(text: string): this {
    return this.#append(text, SPAN.prose);
  }

  answer(text: string): this {
    return this.#append(text, SPAN.answer);
  }

  noise(text: string): this {
    return this.#append(text, SPAN.noise);
  }

  /** Adds each piece in order as its own kind. */
  pieces(pieces: readonly Piece[]): this {
    for (const piece of pieces) this.#append(piece.text, piece.kind);
    return this;
  }

  /** A whole chat turn in the ChatML template of the model. */
  turn(role: Role, content: string | readonly Piece[]): this {
    this.add(`${TURN_START}${role}\n`);
    if (typeof content === "string") this.add(content);
    else this.pieces(content);
    // The end of a reply is what the model must learn to say.
    if (role === "assistant") this.answer(TURN_END).add("\n");
    else this.add(`${TURN_END}\n`);
    return this;
  }

  finish(): Document {
    return { text: this.#text, ends: this.#ends, kinds: this.#kinds };
  }
}

/** A stretch of text of one kind. */
export interface Piece {
  readonly text: string;
  readonly kind: SpanKind;
}

export const prose = (text: string): Piece => ({ text, kind: SPAN.prose });
export const answer = (text: string): Piece => ({ text, kind: SPAN.answer });
export const noise = (text: string): Piece => ({ text, kind: SPAN.noise });
export const textOf = (pieces: readonly Piece[]): string => pieces.map((piece) => piece.text).join("");

import { readFileSync } from "node:fs";

/** The pre-tokenizer that llama.cpp calls "qwen2": every digit on its own, words with the space before them. */
const PRE_TOKEN =
  /(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+/gu;

interface TokenizerFile {
  readonly added_tokens: readonly { readonly id: number; readonly content: string }[];
  readonly model: {
    readonly vocab: Readonly<Record<string, number>>;
    readonly merges: readonly (string | readonly [string, string])[];
  };
}

/** The printable stand-in for each byte in byte-level BPE, as GPT-2 lays it out. */
const byteSymbols = (): readonly string[] => {
  const symbols: string[] = [];
  let spare = 256;
  for (let byte = 0; byte < 256; byte++) {
    const printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    symbols.push(String.fromCodePoint(printable ? byte : spare++));
  }
  return symbols;
};

/** Byte-level BPE over a Hugging Face tokenizer.json, with special tokens recognized in the text. */
export class Tokenizer {
  readonly #ids: ReadonlyMap<string, number>;
  readonly #symbols: readonly string[];
  readonly #byteOf: ReadonlyMap<string, number>;
  readonly #ranks: ReadonlyMap<string, number>;
  readonly #special: ReadonlyMap<string, number>;
  readonly #specialPattern: RegExp;
  readonly #texts: readonly string[];
  readonly #cache = new Map<string, readonly number[]>();
  readonly #encoder = new TextEncoder();

  constructor(file: TokenizerFile) {
    this.#ids = new Map(Object.entries(file.model.vocab));
    const texts: string[] = [];
    for (const [text, id] of this.#ids) texts[id] = text;
    this.#symbols = byteSymbols();
    this.#byteOf = new Map(this.#symbols.map((symbol, byte) => [symbol, byte]));
    this.#ranks = new Map(
      file.model.merges.map((merge, rank) => [typeof merge === "string" ? merge : merge.join(" "), rank]),
    );
    this.#special = new Map(file.added_tokens.map((token) => [token.content, token.id]));
    for (const token of file.added_tokens) texts[token.id] = token.content;
    this.#texts = texts;
    const escaped = [...this.#special.keys()].map((text) => text.replace(/[|<>]/g, "\\$&"));
    this.#specialPattern = new RegExp(`(${escaped.join("|")})`);
  }

  static fromFile(path: string): Tokenizer {
    return new Tokenizer(JSON.parse(readFileSync(path, "utf8")) as TokenizerFile);
  }

  get size(): number {
    return this.#texts.length;
  }

  /** @throws Error when there is no such special token */
  special(text: string): number {
    const id = this.#special.get(text);
    if (id === undefined)
      throw new Error(`tokenizer: no special token "${text}"; known: ${[...this.#special.keys()]}`);
    return id;
  }

  #merge(word: string): readonly number[] {
    const parts = [...this.#encoder.encode(word)].map((byte) => this.#symbols[byte]!);
    for (;;) {
      let best = -1;
      let bestRank = Number.POSITIVE_INFINITY;
      for (let i = 0; i + 1 < parts.length; i++) {
        const rank = this.#ranks.get(`${parts[i]!} ${parts[i + 1]!}`);
        if (rank !== undefined && rank < bestRank) {
          best = i;
          bestRank = rank;
        }
      }
      if (best < 0) break;
      parts.splice(best, 2, parts[best]! + parts[best + 1]!);
    }
    return parts.map((part) => this.#ids.get(part)!);
  }

  /**
   * Calls `emit` for each token with the offset in `text` (UTF-16 units) at which its word begins.
   */
  forEachToken(text: string, emit: (id: number, offset: number) => void): void {
    let base = 0;
    for (const part of text.split(this.#specialPattern)) {
      const special = this.#special.get(part);
      if (special !== undefined) emit(special, base);
      else {
        for (const match of part.matchAll(PRE_TOKEN)) {
          const word = match[0];
          let ids = this.#cache.get(word);
          if (ids === undefined) {
            ids = this.#merge(word);
            if (this.#cache.size < 200_000) this.#cache.set(word, ids);
          }
          for (const id of ids) emit(id, base + match.index);
        }
      }
      base += part.length;
    }
  }

  encode(text: string): number[] {
    const ids: number[] = [];
    this.forEachToken(text, (id) => ids.push(id));
    return ids;
  }

  /** The text of the ids, special tokens included; bytes that are not UTF-8 become U+FFFD. */
  decode(ids: readonly number[]): string {
    const bytes: number[] = [];
    for (const id of ids) {
      const text = this.#texts[id];
      if (text === undefined)
        throw new Error(`tokenizer: id ${id} is outside of the vocabulary of ${this.size}`);
      if (this.#special.has(text)) bytes.push(...this.#encoder.encode(text));
      else for (const symbol of text) bytes.push(this.#byteOf.get(symbol)!);
    }
    return new TextDecoder().decode(Uint8Array.from(bytes));
  }
}

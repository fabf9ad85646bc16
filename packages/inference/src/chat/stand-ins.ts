/**
 * Text of users stays text. Before a template is rendered, the characters by which the model's control tokens are
 * recognised are replaced, in all that users wrote, by characters of Unicode's private use area; so whatever the template
 * does with it (trim, split, join, JSON), a marker in the result is one that the template itself wrote.
 */

import { isRecord } from "../arguments/rule.ts";
import { InferenceError } from "../errors.ts";

const privateUse = { first: 0xe000, last: 0xf8ff };

/** The stand-ins for one rendering. */
export class StandIns {
  readonly #standIn: ReadonlyMap<string, string>;
  readonly #original: ReadonlyMap<string, string>;
  /** Pieces that the template compares with, which stay as they are. */
  readonly #kept: RegExp | undefined;
  readonly #found: RegExp;

  /**
   * @param markers texts of the control tokens
   * @param literals strings of the template's source: where one occurs in a text it stays, so that the template finds it,
   *   unless it could be a part of a marker
   * @param inputs everything that is rendered, whose own characters of private use are not taken
   * @throws InferenceError INVALID_ARGUMENT where the inputs leave too few characters
   */
  constructor(markers: readonly string[], literals: readonly string[], inputs: string) {
    const characters = [...new Set(markers.flatMap(telling))];
    const first = freeRange(inputs, characters.length);
    const standIn = new Map<string, string>();
    const original = new Map<string, string>();
    for (const [index, character] of characters.entries()) {
      const replaced = String.fromCharCode(first + index);
      standIn.set(character, replaced);
      original.set(replaced, character);
    }
    this.#standIn = standIn;
    this.#original = original;
    const kept = literals
      .filter((literal) => literal.length > 1 && [...literal].some((character) => standIn.has(character)))
      .filter((literal) => !markers.some((marker) => overlaps(literal, marker)))
      .sort((a, b) => b.length - a.length);
    this.#kept = kept.length > 0 ? new RegExp(`(${kept.map(quoted).join("|")})`) : undefined;
    const codes = [...original.keys()].map((each) => each.charCodeAt(0).toString(16));
    // As they are, and as JSON escapes them.
    this.#found = new RegExp(`[${[...original.keys()].join("")}]|\\\\u(?:${codes.join("|")})`, "g");
  }

  /** A text of users, marked. */
  mark(text: string): string {
    if (this.#standIn.size === 0) return text;
    const marked = (piece: string): string => {
      let out = "";
      for (const character of piece) out += this.#standIn.get(character) ?? character;
      return out;
    };
    if (!this.#kept) return marked(text);
    return text
      .split(this.#kept)
      .map((piece, index) => (index % 2 === 1 ? piece : marked(piece)))
      .join("");
  }

  /** All strings of a value from a user. Names of fields keep their "_", by which templates look them up. */
  markAll(value: unknown): unknown {
    if (typeof value === "string") return this.mark(value);
    if (Array.isArray(value)) return value.map((each) => this.markAll(each));
    if (!isRecord(value)) return value;
    const field = (name: string): string =>
      name
        .split("_")
        .map((piece) => this.mark(piece))
        .join("_");
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [field(name), this.markAll(each)]));
  }

  /** What was marked, as it was. */
  restore(text: string): string {
    if (this.#original.size === 0) return text;
    return text.replace(this.#found, (found) => {
      const character = found.length === 1 ? found : String.fromCharCode(Number.parseInt(found.slice(2), 16));
      return this.#original.get(character) ?? found;
    });
  }
}

/**
 * The characters of a marker that no word has; all of them for a marker that is a word. Quotes and backslashes are left
 * out, since JSON writes them in another way.
 */
function telling(marker: string): string[] {
  const all = [...marker].filter((character) => !/[\s"'\\]/u.test(character) && character.length === 1);
  const special = all.filter((character) => !/[\p{L}\p{N}]/u.test(character));
  return special.length > 0 ? special : all;
}

/** Whether a marker could hold a part of the literal, or the literal the marker. */
function overlaps(literal: string, marker: string): boolean {
  if (literal.includes(marker) || marker.includes(literal)) return true;
  for (let length = 1; length < Math.min(literal.length, marker.length); length++) {
    if (literal.endsWith(marker.slice(0, length)) || marker.endsWith(literal.slice(0, length))) return true;
  }
  return false;
}

function freeRange(inputs: string, count: number): number {
  const used = new Set<number>();
  for (const [character] of inputs.matchAll(/[\ue000-\uf8ff]|\\u[e-f][0-9a-f]{3}/gi)) {
    used.add(character.length === 1 ? character.charCodeAt(0) : Number.parseInt(character.slice(2), 16));
  }
  let first = privateUse.first;
  for (let at = first; at < first + count; at++) {
    if (used.has(at)) first = at + 1;
    if (first + count > privateUse.last) {
      throw new InferenceError(
        "INVALID_ARGUMENT",
        "the messages use nearly all characters of Unicode's private use area",
        "Leave some of U+E000 to U+F8FF out.",
      );
    }
  }
  return first;
}

function quoted(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

import type { Random } from "./random.ts";

/** What the slots of a template mean in the story at hand. */
export type Slots = Readonly<Record<string, (random: Random) => string>>;

type Part =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "slot"; readonly name: string }
  | { readonly kind: "choice"; readonly options: readonly Template[] };

/** A parsed sentence: text, `{slot}`s and `[one|another]` choices, which may hold slots but no further choices. */
export type Template = readonly Part[];

/** @throws Error where a bracket or brace is not closed, with the template in the message */
export const template = (source: string): Template => {
  const parts: Part[] = [];
  let at = 0;
  while (at < source.length) {
    const opener = source[at]!;
    if (opener === "{" || opener === "[") {
      const end = source.indexOf(opener === "{" ? "}" : "]", at);
      if (end < 0) throw new Error(`template: '${opener}' is not closed in "${source}"; close it`);
      const inner = source.slice(at + 1, end);
      if (opener === "{") parts.push({ kind: "slot", name: inner });
      else parts.push({ kind: "choice", options: inner.split("|").map(template) });
      at = end + 1;
    } else {
      let end = at;
      while (end < source.length && source[end] !== "{" && source[end] !== "[") end++;
      parts.push({ kind: "text", text: source.slice(at, end) });
      at = end;
    }
  }
  return parts;
};

/** One template a line. */
export const templates = (source: string): readonly Template[] =>
  source
    .trim()
    .split("\n")
    .map((line) => template(line.trim()));

/** @throws Error naming the slot when the template uses one that `slots` lacks */
const expand = (parts: Template, slots: Slots, random: Random): string => {
  let text = "";
  for (const part of parts) {
    if (part.kind === "text") text += part.text;
    else if (part.kind === "choice") text += expand(random.pick(part.options), slots, random);
    else {
      const slot = slots[part.name];
      if (slot === undefined) throw new Error(`template: no slot named "${part.name}"; add it to the slots`);
      text += slot(random);
    }
  }
  return text;
};

/** The expanded template with "a" turned into "an" before a vowel. */
export const sentence = (parts: Template, slots: Slots, random: Random): string =>
  expand(parts, slots, random).replace(/\b([Aa]) (?=[aeiou])/g, "$1n ");

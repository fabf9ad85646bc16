import type { Exchange } from "./arithmetic.ts";
import { answer, type Document, DocumentBuilder, noise, type Piece, prose } from "./document.ts";
import { code, digits, fullName, inventedWord, person, thing } from "./phrases.ts";
import type { Random } from "./random.ts";
import * as words from "./vocabulary.ts";

type Value = string | number | boolean;
const fields: readonly (readonly [string, (random: Random) => Value])[] = [
  ["name", (random) => person(random).name],
  ["age", (random) => random.int(1, 99)],
  ["city", (random) => random.pick(words.TOWNS)],
  ["job", (random) => random.pick(words.JOBS)],
  ["colour", (random) => random.pick(words.COLOURS)],
  ["food", (random) => random.pick(words.FOODS)],
  ["id", (random) => Number(digits(random, 2, 6))],
  ["code", code],
  ["item", thing],
  ["price", (random) => random.int(1, 999)],
  ["count", (random) => random.int(0, 99)],
  ["open", (random) => random.chance(0.5)],
  ["day", (random) => random.pick(words.DAYS)],
  ["month", (random) => random.pick(words.MONTHS)],
  ["owner", fullName],
  ["animal", (random) => random.pick(words.ANIMALS)],
  ["material", (random) => random.pick(words.MATERIALS)],
  ["password", inventedWord],
  ["port", (random) => random.int(1000, 9999)],
  ["active", (random) => random.chance(0.5)],
];

const record = (random: Random, low: number, high: number): (readonly [string, Value])[] =>
  random.sample(fields, random.int(low, high)).map(([name, make]) => [name, make(random)] as const);

/** A record as JSON text, its values as pieces of the given kind. */
const pieces = (
  entries: readonly (readonly [string, Value])[],
  wide: boolean,
  mark: (text: string) => Piece,
): Piece[] => {
  const gap = wide ? "\n  " : " ";
  const out: Piece[] = [prose(wide ? "{" : "{")];
  entries.forEach(([name, value], i) => {
    out.push(
      prose(`${i === 0 ? (wide ? gap : "") : `,${gap}`}"${name}":`),
      mark(` ${JSON.stringify(value)}`),
    );
  });
  out.push(prose(wide ? "\n}" : "}"));
  return out;
};

/** "Write ... as JSON", with the values given in the question. */
export const jsonExchange = (random: Random): Exchange => {
  const entries = record(random, 1, 5);
  const told = entries.map(([name, value]) => `${name} ${String(value)}`).join(", ");
  const question = random.pick([
    `Write this as JSON: ${told}`,
    `Give me a JSON object with ${told}.`,
    `Turn this into JSON: ${told}.`,
  ]);
  return { question, reply: pieces(entries, random.chance(0.3), answer) };
};

/** A JSON record in the question, one of its values in the reply. */
export const lookUpExchange = (random: Random): Exchange => {
  const entries = record(random, 2, 7);
  const [name, value] = random.pick(entries);
  const text = pieces(entries, random.chance(0.4), noise)
    .map((piece) => piece.text)
    .join("");
  const ask = random.pick([`What is the value of "${name}"?`, `What is "${name}"?`]);
  return {
    question: random.chance(0.5) ? `${text}\n\n${ask}` : `${ask}\n\n${text}`,
    reply: [prose(`The value of "${name}" is`), answer(` ${JSON.stringify(value)}`), prose(".")],
  };
};

/**
 * A long array of records with an id each, then questions about fields of records.
 * @param size characters to aim at
 */
export const jsonArray = (random: Random, size: number): Document => {
  const builder = new DocumentBuilder();
  const chosen = random.sample(
    fields.filter(([name]) => name !== "id"),
    random.int(1, 3),
  );
  const records: { id: string; entries: (readonly [string, Value])[] }[] = [];
  const taken = new Set<string>();
  builder.add("[\n");
  while (builder.length < size * 0.6 || records.length < 2) {
    const id = digits(random, 3, 4);
    if (taken.has(id)) continue;
    taken.add(id);
    const entries = chosen.map(([name, make]) => [name, make(random)] as const);
    if (records.length > 0) builder.add(",\n");
    builder.add(`  {"id":`).noise(` ${id}`).add(", ");
    builder.pieces(
      pieces(entries, false, noise).map((piece, i) => (i === 0 ? { ...piece, text: "" } : piece)),
    );
    records.push({ id, entries });
  }
  builder.add("\n]\n\n");
  const order = random.shuffle(records.slice());
  for (let i = 0; builder.length < size && i < order.length; i++) {
    const { id, entries } = order[i]!;
    const [name, value] = random.pick(entries);
    builder
      .add(`Q: What is the "${name}" of ${id}?\nA:`)
      .answer(` ${JSON.stringify(value)}`)
      .add("\n");
  }
  return builder.finish();
};

import { isRecord } from "../arguments/rule.ts";
import { InferenceError } from "../errors.ts";
import { integerRange } from "./integer-range.ts";
import { namedFormats, primitiveRules } from "./primitive-rules.ts";
import { resolveReference } from "./schema-reference.ts";

export type JsonSchema = boolean | { readonly [key: string]: unknown };

/** Keywords that say nothing of what a value may be. */
const annotations = new Set([
  ...["$schema", "$id", "$comment", "$defs", "definitions", "$anchor", "title", "description", "default"],
  ...["examples", "deprecated", "readOnly", "writeOnly"],
]);

/** llama.cpp's bound on repetitions in a grammar. */
const MOST_REPEATS = 2000;

/**
 * GBNF of which every text is JSON that the schema allows. It may be narrower than the schema: properties come in the
 * schema's order, an object with `properties` has no others, and white space is short.
 *
 * Known: type, enum, const, properties, required, additionalProperties, items, prefixItems, minItems, maxItems, minLength,
 * maxLength, minimum, maximum and their exclusive forms for integers, format (date, time, date-time, uuid), anyOf, oneOf
 * (the first branches that match are not told apart), allOf of objects, $ref within the schema, recursive too.
 *
 * @throws InferenceError INVALID_ARGUMENT, which names the keyword and its place, for one that would be ignored
 */
export function jsonSchemaGrammar(schema: JsonSchema): string {
  const compiler = new SchemaCompiler(schema);
  const root = compiler.rule(schema, "#");
  const rules = [`root ::= ${root} ws`, ...compiler.rules()];
  return `${rules.join("\n")}\n`;
}

class SchemaCompiler {
  readonly #schema: JsonSchema;
  readonly #rules = new Map<string, string>();
  readonly #references = new Map<string, string>();

  constructor(schema: JsonSchema) {
    this.#schema = schema;
  }

  rules(): string[] {
    return [...primitiveRules, ...[...this.#rules].map(([name, body]) => `${name} ::= ${body}`)];
  }

  /** The name of a rule for a schema; `place` is its JSON pointer. */
  rule(schema: JsonSchema, place: string): string {
    if (schema === true) return "value";
    if (!isRecord(schema)) throw refused(place, "allows nothing");
    if (typeof schema.$ref === "string") return this.#reference(schema.$ref, place);
    return this.#add(this.#body(schema, place));
  }

  #add(body: string): string {
    for (const [name, known] of this.#rules) if (known === body) return name;
    return this.#put(body);
  }

  #put(body: string): string {
    const name = `r${this.#rules.size}`;
    this.#rules.set(name, body);
    return name;
  }

  #reference(reference: string, place: string): string {
    const known = this.#references.get(reference);
    if (known !== undefined) return known;
    const target = resolveReference(this.#schema, reference);
    if (target === undefined) throw refused(place, `refers to ${reference}, which is not there`);
    const name = this.#put("");
    this.#references.set(reference, name);
    this.#rules.set(name, this.rule(target as JsonSchema, reference));
    return name;
  }

  #body(schema: Record<string, unknown>, place: string): string {
    const used = new Set<string>();
    const take = (key: string): unknown => {
      used.add(key);
      return schema[key];
    };
    const body = this.#choose(schema, take, place);
    for (const key of Object.keys(schema)) {
      if (!used.has(key) && !annotations.has(key))
        throw refused(place, `has ${key}, which a grammar cannot hold to`);
    }
    return body;
  }

  #choose(schema: Record<string, unknown>, take: (key: string) => unknown, place: string): string {
    if ("const" in schema) {
      take("type");
      return literal(take("const"));
    }
    if (Array.isArray(schema.enum)) {
      take("type");
      return (take("enum") as unknown[]).map(literal).join(" | ");
    }
    for (const key of ["anyOf", "oneOf"]) {
      if (!Array.isArray(schema[key])) continue;
      take("type");
      const branches = take(key) as JsonSchema[];
      return branches.map((branch, at) => this.rule(branch, `${place}/${key}/${at}`)).join(" | ");
    }
    if (Array.isArray(schema.allOf)) {
      const { allOf, ...own } = schema;
      for (const key of Object.keys(schema)) take(key);
      return this.#body(merged([own, ...(allOf as unknown[])], this.#schema, place), place);
    }
    const type = take("type") ?? impliedType(schema);
    if (Array.isArray(type)) {
      const branches = type.map((each) => this.#body({ ...keptFor(each, schema), type: each }, place));
      for (const key of Object.keys(schema)) take(key);
      return branches.map((branch) => `(${branch})`).join(" | ");
    }
    switch (type) {
      case undefined:
        return "value";
      case "null":
        return "null";
      case "boolean":
        return "boolean";
      case "number":
        return "number";
      case "integer":
        return integers(take, place);
      case "string":
        return strings(take, place);
      case "array":
        return this.#array(take, place);
      case "object":
        return this.#object(take, place);
      default:
        throw refused(place, `has the type ${JSON.stringify(type)}`);
    }
  }

  #array(take: (key: string) => unknown, place: string): string {
    const tuple = take("prefixItems");
    const items = take("items");
    const least = countOf(take("minItems"), 0, place, "minItems");
    const most = countOf(take("maxItems"), undefined, place, "maxItems");
    if (Array.isArray(tuple)) {
      if (items !== undefined && items !== false) throw refused(place, "has prefixItems and items");
      const each = tuple.map((item, at) => this.rule(item, `${place}/prefixItems/${at}`));
      return `"[" ws ${each.join(' ws "," ws ')} ws "]"`;
    }
    const item = this.rule((items ?? true) as JsonSchema, `${place}/items`);
    if (most === 0) return '"[" ws "]"';
    const more = `(ws "," ws ${item})${repeats(Math.max(0, least - 1), most === undefined ? undefined : most - 1)}`;
    const some = `${item} ${more} ws`;
    return least > 0 ? `"[" ws ${some} "]"` : `"[" ws (${some})? "]"`;
  }

  #object(take: (key: string) => unknown, place: string): string {
    const properties = (take("properties") ?? {}) as Record<string, JsonSchema>;
    const required = new Set((take("required") ?? []) as string[]);
    const additional = take("additionalProperties");
    const names = Object.keys(properties);
    const undescribed = [...required].find((name) => !Object.hasOwn(properties, name));
    if (undescribed !== undefined)
      throw refused(place, `requires ${undescribed}, which properties do not describe`);
    if (names.length === 0) {
      if (additional === false) return '"{" ws "}"';
      const value = this.rule((additional ?? true) as JsonSchema, `${place}/additionalProperties`);
      const pair = `string ws ":" ws ${value}`;
      return `"{" ws (${pair} (ws "," ws ${pair})* ws)? "}"`;
    }
    const pairs = names.map((name) => {
      const value = this.rule(properties[name]!, `${place}/properties/${name}`);
      return { isRequired: required.has(name), text: `${literal(name)} ws ":" ws ${value}` };
    });
    return `"{" ws ${this.#pairs(pairs)} ws "}"`;
  }

  /** Pairs in their order, those that are not required left out at will, with commas between what is there. */
  #pairs(pairs: { isRequired: boolean; text: string }[]): string {
    let [first, later] = ['""', '""']; // what follows where nothing, or something, was written before
    for (const { isRequired, text } of [...pairs].reverse()) {
      const behind = later === '""' ? "" : ` ${later}`;
      const [here, after] = [`${text}${behind}`, `ws "," ws ${text}${behind}`];
      [first, later] = isRequired
        ? [this.#add(here), this.#add(after)]
        : [this.#add(`${here} | ${first}`), this.#add(`${after} | ${later}`)];
    }
    return first;
  }
}

function refused(place: string, what: string): InferenceError {
  return new InferenceError(
    "INVALID_ARGUMENT",
    `the JSON schema at ${place} ${what}`,
    "Leave it out and check the answer yourself, or say it another way.",
  );
}

/** A JSON text as a literal of GBNF. */
function literal(value: unknown): string {
  const escaped = JSON.stringify(value).replace(/[\\"]/g, "\\$&");
  return `"${escaped}"`;
}

function impliedType(schema: Record<string, unknown>): string | undefined {
  if ("properties" in schema || "required" in schema || "additionalProperties" in schema) return "object";
  return "items" in schema || "prefixItems" in schema ? "array" : undefined;
}

const keywordsOf: Record<string, readonly string[]> = {
  string: ["minLength", "maxLength", "format"],
  integer: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"],
  array: ["items", "prefixItems", "minItems", "maxItems"],
  object: ["properties", "required", "additionalProperties"],
};

/** Of a schema with several types, what concerns one of them. */
function keptFor(type: unknown, schema: Record<string, unknown>): Record<string, unknown> {
  const known = new Set(Object.values(keywordsOf).flat());
  const own = keywordsOf[String(type)] ?? [];
  return Object.fromEntries(Object.entries(schema).filter(([key]) => own.includes(key) || !known.has(key)));
}

function integers(take: (key: string) => unknown, place: string): string {
  const bound = (key: string, exclusive: string, step: number): number | undefined => {
    const values = [take(key), take(exclusive)].map((value, at) => {
      if (value === undefined) return undefined;
      if (typeof value !== "number") throw refused(place, `has a bound that is no number`);
      const whole = step > 0 ? Math.ceil(value) : Math.floor(value);
      return at === 1 && whole === value ? whole + step : whole;
    });
    const given = values.filter((value) => value !== undefined);
    return given.length === 0 ? undefined : step > 0 ? Math.max(...given) : Math.min(...given);
  };
  const [low, high] = [bound("minimum", "exclusiveMinimum", 1), bound("maximum", "exclusiveMaximum", -1)];
  try {
    return integerRange(low, high);
  } catch {
    throw refused(place, "allows no integer");
  }
}

function strings(take: (key: string) => unknown, place: string): string {
  const format = take("format");
  const least = countOf(take("minLength"), 0, place, "minLength");
  const most = countOf(take("maxLength"), undefined, place, "maxLength");
  if (format !== undefined) {
    const rule = namedFormats[String(format)];
    if (rule === undefined || least > 0 || most !== undefined)
      throw refused(place, `has the format ${format}`);
    return rule;
  }
  return least === 0 && most === undefined ? "string" : `"\\"" char${repeats(least, most)} "\\""`;
}

function countOf<T extends number | undefined>(
  value: unknown,
  otherwise: T,
  place: string,
  key: string,
): number | T {
  if (value === undefined) return otherwise;
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0 || value > MOST_REPEATS) {
    throw refused(place, `has ${key} ${JSON.stringify(value)}, and 0 to ${MOST_REPEATS} can be`);
  }
  return value;
}

function repeats(least: number, most: number | undefined): string {
  if (most === undefined) return least === 0 ? "*" : `{${least},}`;
  return `{${least},${most}}`;
}

/** allOf of objects as one. */
function merged(parts: unknown[], root: JsonSchema, place: string): Record<string, unknown> {
  const all: Record<string, unknown> = { type: "object", properties: {}, required: [] };
  for (const given of parts) {
    let part = given;
    if (isRecord(part) && typeof part.$ref === "string") part = resolveReference(root, part.$ref);
    if (!isRecord(part)) throw refused(place, "has allOf of something else than objects");
    for (const [key, value] of Object.entries(part)) {
      if (key === "properties") Object.assign(all.properties as object, value);
      else if (key === "required") (all.required as string[]).push(...(value as string[]));
      else if (key === "additionalProperties" && (value === true || value === false)) all[key] = value;
      else if (!annotations.has(key) && !(key === "type" && value === "object")) {
        throw refused(place, `has allOf with ${key}`);
      }
    }
  }
  return all;
}

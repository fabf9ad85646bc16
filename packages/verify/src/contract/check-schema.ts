/** The part of JSON Schema (draft 2020-12) that the contract's schema uses. */
export interface Schema {
  readonly type?: "object" | "array" | "string" | "integer";
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly minItems?: number;
  readonly minProperties?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly propertyNames?: Schema;
  readonly required?: readonly string[];
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return "array";
  if (value === null) return "null";
  return Number.isInteger(value) ? "integer" : typeof value;
}

/** Where `value` breaks `schema`: one line a fault, each with its place. */
export function schemaFaults(value: unknown, schema: Schema, root = schema, at = ""): string[] {
  if (schema.$ref !== undefined) {
    const target = root.$defs?.[schema.$ref.replace("#/$defs/", "")];
    return target ? schemaFaults(value, target, root, at) : [`${at}: the schema has no ${schema.$ref}`];
  }
  const place = at || "the whole";
  if (schema.type !== undefined && typeOf(value) !== schema.type) {
    return [`${place} is ${typeOf(value)}, not ${schema.type}`];
  }
  const faults: string[] = [];
  if (schema.const !== undefined && value !== schema.const) faults.push(`${place} is not ${schema.const}`);
  if (schema.enum && !schema.enum.includes(value)) {
    faults.push(`${place} is ${JSON.stringify(value)}, not one of ${schema.enum.join(", ")}`);
  }
  if (typeof value === "string") faults.push(...stringFaults(value, schema, place));
  if (Array.isArray(value)) {
    if (value.length < (schema.minItems ?? 0)) faults.push(`${place} has ${value.length} entries`);
    if (schema.items) {
      const { items } = schema;
      faults.push(...value.flatMap((entry, i) => schemaFaults(entry, items, root, `${at}[${i}]`)));
    }
  } else if (value !== null && typeof value === "object") {
    faults.push(...objectFaults(value as Record<string, unknown>, schema, root, at));
  }
  return faults;
}

function stringFaults(value: string, schema: Schema, place: string): string[] {
  const faults: string[] = [];
  if (value.length < (schema.minLength ?? 0)) {
    faults.push(`${place} has ${value.length} characters, fewer than ${schema.minLength}`);
  }
  if (schema.pattern && !new RegExp(schema.pattern, "u").test(value)) {
    faults.push(`${place} is ${JSON.stringify(value)}, not like ${schema.pattern}`);
  }
  return faults;
}

function objectFaults(value: Record<string, unknown>, schema: Schema, root: Schema, at: string): string[] {
  const faults: string[] = [];
  const known = schema.properties ?? {};
  for (const name of schema.required ?? []) {
    if (!(name in value)) faults.push(`${at || "the whole"} lacks ${name}`);
  }
  if (Object.keys(value).length < (schema.minProperties ?? 0)) faults.push(`${at} is empty`);
  for (const [name, entry] of Object.entries(value)) {
    const place = at ? `${at}.${name}` : name;
    if (schema.propertyNames)
      faults.push(...schemaFaults(name, schema.propertyNames, root, `${place} (name)`));
    const extra = schema.additionalProperties;
    if (known[name]) faults.push(...schemaFaults(entry, known[name], root, place));
    else if (extra === false) faults.push(`${place} is not in the schema`);
    else if (typeof extra === "object") faults.push(...schemaFaults(entry, extra, root, place));
  }
  return faults;
}

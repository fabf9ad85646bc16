/** What a value from outside may be, and the words for it. */
export interface Rule<T> {
  /** As in "Give …": "an integer from 1 to 10". */
  readonly wants: string;
  accepts(value: unknown): value is T;
}

function rule<T>(wants: string, accepts: (value: unknown) => boolean): Rule<T> {
  return { wants, accepts: (value): value is T => accepts(value) };
}

/** Both ends are allowed. */
export function integer(low: number, high = 2 ** 31 - 1): Rule<number> {
  return rule(
    `an integer from ${low} to ${high}`,
    (value) => Number.isInteger(value) && (value as number) >= low && (value as number) <= high,
  );
}

/** Both ends are allowed; NaN is not. */
export function real(low: number, high: number): Rule<number> {
  return rule(
    `a number from ${low} to ${high}`,
    (value) => typeof value === "number" && value >= low && value <= high,
  );
}

export const text: Rule<string> = rule("a string", (value) => typeof value === "string");

/** A path or a name: C ends a string at its first NUL. */
export const name: Rule<string> = rule(
  "a string that is not empty and holds no NUL",
  (value) => typeof value === "string" && value !== "" && !value.includes("\0"),
);

export const flag: Rule<boolean> = rule("true or false", (value) => typeof value === "boolean");

export const signal: Rule<AbortSignal> = rule("an AbortSignal", (value) => value instanceof AbortSignal);

/** What it is called with is the caller's to know. */
export function callback<F>(): Rule<F> {
  return rule("a function", (value) => typeof value === "function");
}

/** An object of names and values, as a literal makes it. */
export const record: Rule<Readonly<Record<string, unknown>>> = rule("an object", isRecord);

/** The same, for an object whose fields are checked elsewhere. */
export function recordOf<T extends object>(): Rule<T> {
  return rule("an object", isRecord);
}

export function listOf<T>(each: Rule<T>, least: number, most: number): Rule<readonly T[]> {
  return rule(
    `a list of ${least} to ${most} items, each ${each.wants}`,
    (value) =>
      Array.isArray(value) && value.length >= least && value.length <= most && value.every(each.accepts),
  );
}

export function oneOf<const T extends string>(choices: readonly T[]): Rule<T> {
  return rule(`one of ${choices.join(", ")}`, (value) => choices.includes(value as T));
}

export function numberOf<const T extends number>(choices: readonly T[]): Rule<T> {
  return rule(`one of ${choices.join(", ")}`, (value) => choices.includes(value as T));
}

export function either<A, B>(one: Rule<A>, other: Rule<B>): Rule<A | B> {
  return rule(`${one.wants}, or ${other.wants}`, (value) => one.accepts(value) || other.accepts(value));
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A value as an error's message shows it: short, on one line, never an object's content. */
export function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  if (typeof value === "function") return "a function";
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === "object" && value !== null) {
    const kind = (value as { constructor?: { name?: unknown } }).constructor?.name;
    return typeof kind === "string" && kind !== "Object" ? `an object of ${kind}` : "an object";
  }
  return typeof value === "bigint" ? `${value}n` : String(value);
}

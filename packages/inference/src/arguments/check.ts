import { InferenceError } from "../errors.ts";
import { closestName } from "../models/closest-name.ts";
import { isRecord, type Rule, shown } from "./rule.ts";

/** The rules of an options object: one for every name that it may have. */
export type Rules<T> = { readonly [K in keyof T]-?: Rule<NonNullable<T[K]>> };

/**
 * `value` as what it must be.
 *
 * @throws InferenceError INVALID_ARGUMENT
 */
export function checkValue<T>(name: string, value: unknown, rule: Rule<T>): T {
  if (rule.accepts(value)) return value;
  throw new InferenceError("INVALID_ARGUMENT", `${name} is ${shown(value)}`, `Give ${rule.wants}.`);
}

/**
 * A copy of `given` with the names that were set, each checked. A name that no rule knows is refused, with the one that
 * was probably meant: an option that is misspelt must not be ignored.
 *
 * @param of what takes the options, for the message
 * @param all whether none may be left out
 * @throws InferenceError INVALID_ARGUMENT
 */
export function checkOptions<T extends object>(of: string, given: unknown, rules: Rules<T>, all = false): T {
  if (given === undefined && !all) return {} as T;
  if (!isRecord(given)) {
    throw new InferenceError(
      "INVALID_ARGUMENT",
      `the options of ${of} are ${shown(given)}`,
      "Give an object such as { name: value }, or nothing.",
    );
  }
  const names = Object.keys(rules);
  const checked: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(rules, name)) {
      const meant = closestName(name, names);
      throw new InferenceError(
        "INVALID_ARGUMENT",
        `${of} knows no option ${shown(name)}`,
        meant ? `Did you mean ${meant}?` : `Its options: ${names.join(", ")}.`,
      );
    }
    if (value === undefined) continue;
    checked[name] = checkValue(name, value, rules[name as keyof T]);
  }
  const missing = all ? names.find((each) => !Object.hasOwn(checked, each)) : undefined;
  if (missing === undefined) return checked as T;
  throw new InferenceError(
    "INVALID_ARGUMENT",
    `${of} has no ${missing}`,
    `Give ${rules[missing as keyof T].wants}.`,
  );
}

import { CodecError } from "./codec-error.ts";
import {
  type Family,
  type FormatName,
  type FormatOptions,
  families,
  isFormatName,
  optionsOf,
} from "./format-families.ts";
import { composeFormat, type KvFormat } from "./kv-format.ts";

/** The public names of the formats; `trellis` is the bare family (options rate and tile). */
export const FORMAT_NAMES = Object.keys(families) as readonly FormatName[];

/** The formats that a head of `headDim` values can be stored in with their default options. */
export function formatsFor(headDim: number): FormatName[] {
  return FORMAT_NAMES.filter((name) => families[name].codecs(headDim, {}).length > 0);
}

function checkOptions(name: FormatName, options: FormatOptions): void {
  const allowed = optionsOf(name);
  for (const [key, value] of Object.entries(options)) {
    const choices = allowed[key as keyof FormatOptions] as readonly unknown[] | undefined;
    if (value === undefined || choices?.includes(value)) continue;
    throw new CodecError(
      "OPTION_INVALID",
      `${name} does not take ${key}: ${String(value)}`,
      choices
        ? `${key} is one of ${choices.join(", ")}.`
        : `Its options: ${Object.keys(allowed).join(", ") || "none"}.`,
    );
  }
}

/**
 * A format by name for a head size.
 * Throws CodecError FORMAT_UNKNOWN, OPTION_INVALID, HEAD_DIM_UNSUPPORTED (the hint lists what fits).
 */
export function format(name: string, headDim: number, options: FormatOptions = {}): KvFormat {
  if (!isFormatName(name)) {
    throw new CodecError(
      "FORMAT_UNKNOWN",
      `No KV format is named '${name}'`,
      `Known: ${FORMAT_NAMES.join(", ")}.`,
    );
  }
  checkOptions(name, options);
  const family: Family = families[name];
  const codecs = Number.isInteger(headDim) && headDim > 0 ? family.codecs(headDim, options) : [];
  if (codecs.length === 0) {
    const fitting = formatsFor(headDim);
    throw new CodecError(
      "HEAD_DIM_UNSUPPORTED",
      `${name} cannot hold heads of ${headDim} values: it needs ${family.needs}`,
      fitting.length > 0 ? `These fit: ${fitting.join(", ")}.` : "Every format needs a multiple of 32.",
    );
  }
  return composeFormat(name, headDim, codecs, family.mixed ?? false);
}

import {
  CodecError,
  type FormatName,
  type FormatOptions,
  format,
  type KvFormat,
} from "@eliza-inference/codecs";
import type { RowFormat } from "./device.ts";

const made = new Map<string, KvFormat>();

/** `format` of the codecs, made once for each choice: its identity hash alone costs milliseconds for large tables. */
export function formatOf(name: string, headDim: number, options: FormatOptions = {}): KvFormat {
  const key = JSON.stringify([name, headDim, options]);
  const known = made.get(key);
  if (known) return known;
  const kv = format(name, headDim, options);
  made.set(key, kv);
  return kv;
}

/** The format for heads of that size, or undefined where it has none. */
export function fittingFormat(
  name: FormatName,
  headDim: number,
  options: FormatOptions,
): RowFormat | undefined {
  if (!fitsHead(name, headDim, options)) return undefined;
  return { codec: formatOf(name, headDim, options), options };
}

function fitsHead(name: FormatName, headDim: number, options: FormatOptions): boolean {
  try {
    formatOf(name, headDim, options);
    return true;
  } catch (error) {
    if (error instanceof CodecError && error.code === "HEAD_DIM_UNSUPPORTED") return false;
    throw error;
  }
}

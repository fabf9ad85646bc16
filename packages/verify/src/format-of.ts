import { type FormatOptions, format, type KvFormat } from "@eliza-inference/codecs";

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

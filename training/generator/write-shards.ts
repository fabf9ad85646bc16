/**
 * Writes shards of packed windows: little-endian uint16, `windows` rows of `length` tokens, one file a shard named
 * <length>-<shard>.bin, each renamed into place when whole.
 *
 *   write-shards --tokenizer FILE --out FOLDER --split train|held-out --length N --windows N
 *                --first N --count N [--step N]
 */
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Split, shardRandom } from "./mixture.ts";
import { fillWindow } from "./pack.ts";
import { Tokenizer } from "./tokenizer.ts";

const text = { type: "string" } as const;
const { values } = parseArgs({
  options: {
    tokenizer: text,
    out: text,
    split: text,
    length: text,
    windows: text,
    first: { ...text, default: "0" },
    count: { ...text, default: "1" },
    step: { ...text, default: "1" },
  },
});
const { tokenizer: tokenizerPath, out, split, length, windows, first, count, step } = values;
if (!tokenizerPath || !out || !length || !windows || (split !== "train" && split !== "held-out")) {
  throw new Error(
    `write-shards: an option is missing or wrong in ${JSON.stringify(values)}; see the top of this file`,
  );
}
const tokenizer = Tokenizer.fromFile(tokenizerPath);
mkdirSync(out, { recursive: true });
for (let i = 0; i < Number(count); i++) {
  const shard = Number(first) + i * Number(step);
  const random = shardRandom(split satisfies Split, Number(length), shard);
  const data = new Uint16Array(Number(windows) * Number(length));
  for (let row = 0; row < Number(windows); row++) {
    fillWindow(data.subarray(row * Number(length), (row + 1) * Number(length)), random, tokenizer);
  }
  const path = join(out, `${length}-${String(shard).padStart(4, "0")}.bin`);
  writeFileSync(`${path}.part`, new Uint8Array(data.buffer));
  renameSync(`${path}.part`, path);
}

/**
 * Writes everything a training by schedule.json reads, with several processes at once:
 *
 *   write-shards --tokenizer FILE --schedule FILE --out FOLDER [--workers N]
 *
 * A shard is a file <length>-<number>.bin of packed windows (little-endian uint16, see pack.ts), renamed into place
 * when whole. The held-out ones, one a length, lie in FOLDER/held-out and come first; then the phases in order.
 */
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Split, shardRandom } from "./mixture.ts";
import { fillWindow } from "./pack.ts";
import { Tokenizer } from "./tokenizer.ts";

const HELD_OUT_TOKENS = 131_072;

interface Schedule {
  readonly tokens_per_step: number;
  readonly shard_tokens: number;
  readonly phases: readonly { readonly length: number; readonly steps: number }[];
}

interface Shard {
  readonly split: Split;
  readonly length: number;
  readonly number: number;
  readonly tokens: number;
}

const shardsOf = (schedule: Schedule): Shard[] => {
  const lengths = new Set(schedule.phases.map((phase) => phase.length));
  const shards: Shard[] = [...lengths].map((length) => ({
    split: "held-out",
    length,
    number: 0,
    tokens: Math.min(HELD_OUT_TOKENS, schedule.shard_tokens),
  }));
  for (const { length, steps } of schedule.phases) {
    const count = Math.ceil((steps * schedule.tokens_per_step) / schedule.shard_tokens);
    for (let number = 0; number < count; number++) {
      shards.push({ split: "train", length, number, tokens: schedule.shard_tokens });
    }
  }
  return shards;
};

const write = (shard: Shard, tokenizer: Tokenizer, out: string): void => {
  const { split, length, number, tokens } = shard;
  const random = shardRandom(split, length, number);
  const data = new Uint16Array(tokens);
  for (let at = 0; at < tokens; at += length) fillWindow(data.subarray(at, at + length), random, tokenizer);
  const folder = split === "train" ? out : join(out, split);
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${length}-${String(number).padStart(4, "0")}.bin`);
  writeFileSync(`${path}.part`, new Uint8Array(data.buffer));
  renameSync(`${path}.part`, path);
};

const text = { type: "string" } as const;
const { values } = parseArgs({
  options: {
    tokenizer: text,
    schedule: text,
    out: text,
    workers: { ...text, default: "1" },
    worker: text,
  },
});
const { tokenizer: tokenizerPath, schedule: schedulePath, out, workers, worker } = values;
if (!tokenizerPath || !schedulePath || !out) {
  throw new Error(`write-shards: give --tokenizer, --schedule and --out; found ${JSON.stringify(values)}`);
}
if (worker === undefined) {
  for (let i = 0; i < Number(workers); i++) {
    const argv = [...process.execArgv, ...process.argv.slice(1), "--worker", String(i)];
    const child = spawn(process.execPath, argv, { stdio: "inherit" });
    child.on("exit", (code) => {
      if (code !== 0) process.exitCode = 1;
    });
  }
} else {
  const tokenizer = Tokenizer.fromFile(tokenizerPath);
  const shards = shardsOf(JSON.parse(readFileSync(schedulePath, "utf8")) as Schedule);
  shards.forEach((shard, i) => {
    if (i % Number(workers) === Number(worker)) write(shard, tokenizer, out);
  });
}

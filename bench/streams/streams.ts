import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Inference } from "eliza-inference";
import { show, summarise } from "../statistics/summary.ts";

const STREAMS = 8;
const TIMER_MS = 5;

interface Load {
  /** how late each 5 ms timer tick was, in milliseconds */
  timerLateMs: ReturnType<typeof summarise>;
  readFileMs: ReturnType<typeof summarise>;
  tokensPerSecond: number;
  tokens: number;
  seconds: number;
}

/** Eight streams, in turn and batched, while files are read and a 5 ms timer ticks: neither may wait for a token. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      json: { type: "boolean", default: false },
      model: { type: "string", default: "smollm2-135m" },
      tokens: { type: "string", default: "48" },
    },
  });
  const results: Record<string, Load> = { idle: await watch(async () => void (await sleep(3000))) };
  for (const [name, maxStreams] of [
    ["in turn", 1],
    ["batched", STREAMS],
  ] as const) {
    await using inference = await Inference.open(values.model, { maxStreams, contextSize: 512 });
    await inference.stream("warm up", { maxTokens: 2 }).text();
    results[name] = await watch(async () => {
      const counts = await Promise.all(
        Array.from({ length: STREAMS }, async (_, i) => {
          let tokens = 0;
          const prompt = `Question ${i}: count from ${i} to one hundred, with a word about each number.\nAnswer:`;
          for await (const chunk of inference.stream(prompt, {
            maxTokens: Number(values.tokens),
            temperature: 0.8,
            seed: i,
          })) {
            tokens += chunk.tokens.length;
          }
          return tokens;
        }),
      );
      return counts.reduce((sum, count) => sum + count, 0);
    });
  }
  if (values.json) {
    console.log(
      JSON.stringify({ benchmark: "streams", streams: STREAMS, timerMs: TIMER_MS, results }, null, 2),
    );
    return;
  }
  for (const [name, load] of Object.entries(results)) {
    console.log(
      `${name.padEnd(8)} ${String(load.tokens).padStart(4)} tokens, ${load.tokensPerSecond.toFixed(1)}/s; ` +
        `timer late by ${show(load.timerLateMs, 2)} ms; readFile ${show(load.readFileMs, 2)} ms`,
    );
  }
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function watch(work: () => Promise<number | undefined>): Promise<Load> {
  const late: number[] = [];
  const reads: number[] = [];
  let running = true;
  let expected = performance.now() + TIMER_MS;
  const timer = setInterval(() => {
    const now = performance.now();
    late.push(Math.max(0, now - expected));
    expected = now + TIMER_MS;
  }, TIMER_MS);
  const reader = (async () => {
    const file = fileURLToPath(import.meta.url);
    while (running) {
      const start = performance.now();
      await readFile(file);
      reads.push(performance.now() - start);
      await sleep(10);
    }
  })();
  const start = performance.now();
  const tokens = (await work()) ?? 0;
  const seconds = (performance.now() - start) / 1000;
  running = false;
  clearInterval(timer);
  await reader;
  return {
    timerLateMs: summarise(late),
    readFileMs: summarise(reads),
    tokens,
    seconds,
    tokensPerSecond: tokens / seconds,
  };
}

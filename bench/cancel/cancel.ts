import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Inference, resolveModel } from "eliza-inference";
import { show, summarise } from "../statistics/summary.ts";

/**
 * How long a cancellation takes while a prompt is computed, with the batch sizes that nobody chose: from the signal to
 * the next stream's first token being possible, that is until the aborted stream has let go. Beside it the whole prompt.
 */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      json: { type: "boolean", default: false },
      model: { type: "string", default: "smollm2-135m" },
      tokens: { type: "string", default: "4000" },
      rounds: { type: "string", default: "15" },
    },
  });
  const tokens = Number(values.tokens);
  const { path } = await resolveModel(values.model);
  await using inference = await Inference.open(path, { contextSize: tokens + 64, cache: "balanced" });
  const prompt = Array.from({ length: tokens }, (_, at) => `${at % 10}`)
    .join("")
    .slice(0, tokens);
  const whole = performance.now();
  await inference.stream(prompt, { maxTokens: 1 }).text();
  const wholeMs = performance.now() - whole;
  const cancelMs: number[] = [];
  for (let round = 0; round < Number(values.rounds); round++) {
    const stop = new AbortController();
    const text = inference.stream(prompt, { maxTokens: 1, signal: stop.signal }).text();
    const ended = text.then(
      () => Number.NaN,
      () => performance.now(),
    );
    await sleep(wholeMs * (0.05 + (0.8 * round) / Number(values.rounds)));
    const at = performance.now();
    stop.abort();
    cancelMs.push((await ended) - at);
  }
  const result = { model: values.model, tokens, wholePromptMs: wholeMs, cancelMs: summarise(cancelMs) };
  if (values.json) console.log(JSON.stringify({ benchmark: "cancel", ...result }, null, 2));
  else
    console.log(
      `${values.model}, a prompt of ${tokens} tokens takes ${Math.round(wholeMs)} ms; cancelled in ${show(result.cancelMs, 0)} ms`,
    );
}

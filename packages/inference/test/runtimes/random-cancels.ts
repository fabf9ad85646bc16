import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { Inference } from "../../src/inference.ts";
import { randomFrom } from "./mutated-files.ts";

const questions = ["Tell me a story.", "Count to ten.", "What is the capital of Japan?"];

/**
 * Cancels `count` generations of sessions at random points (after some milliseconds, or after some chunks) and asks the
 * same session again each time: the answer must be the right one. Returns how many were cut before their end.
 */
export async function cancelAtRandom(
  model: string,
  options: { count: number; seed: number; libraryPath: string; beside: () => Promise<void> },
): Promise<number> {
  const random = randomFrom(options.seed);
  const pick = (most: number): number => Math.floor(random() * most);
  await using inference = await Inference.open(model, {
    libraryPath: options.libraryPath,
    runtime: "litert-lm",
  });
  const ask = (content: string) => [{ role: "user" as const, content }];
  const expected = new Map<string, string>();
  for (const question of questions) {
    let text = "";
    for await (const piece of inference.stream(ask(question), { maxTokens: 80 })) text += piece.text;
    expected.set(question, text);
  }
  const sessions = await Promise.all([0, 1, 2].map(() => inference.session({ maxTokens: 80 })));
  let cut = 0;
  for (let i = 0; i < options.count; i++) {
    const session = sessions[pick(sessions.length)]!;
    const stopping = new AbortController();
    const byTime = random() < 0.5;
    const chunks = byTime ? Number.POSITIVE_INFINITY : 1 + pick(7);
    if (byTime) void sleep(random() * 8).then(() => stopping.abort());
    const question = questions[pick(questions.length)]!;
    try {
      let read = 0;
      for await (const _ of session.generate(ask(question), { signal: stopping.signal })) {
        if (++read === chunks) stopping.abort();
      }
    } catch (error) {
      assert.equal((error as { code?: string }).code, "CANCELLED", String(error));
      cut++;
    }
    const again = questions[pick(questions.length)]!;
    let text = "";
    for await (const piece of session.generate(ask(again))) text += piece.text;
    assert.equal(text, expected.get(again), `cancel ${i} of seed ${options.seed}`);
    if (i % 16 === 0) await options.beside();
  }
  return cut;
}

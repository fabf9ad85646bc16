import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { ChatMessage } from "../../src/index.ts";
import { Inference } from "../../src/inference.ts";
import { libraryUnderTest, picoModel as model } from "./engine-under-test.ts";

const libraryPath = await libraryUnderTest();
const expectations: { chats: { messages: ChatMessage[]; reply?: string; margin: number }[] } = JSON.parse(
  await readFile(new URL("../../../../models/pico/expectations.json", import.meta.url), "utf8"),
);
const prompts = Array.from(
  { length: 8 },
  (_, i) => `Story number ${i}. Once upon a time there was a ${"very ".repeat(i)}`,
);

describe("eight streams at once", () => {
  test("in turn, each says what it says alone", async () => {
    await using inference = await Inference.open(model, { libraryPath, contextSize: 256 });
    const alone: string[] = [];
    for (const prompt of prompts) alone.push(await inference.stream(prompt, { maxTokens: 16 }).text());
    const together = await Promise.all(
      prompts.map((prompt) => inference.stream(prompt, { maxTokens: 16 }).text()),
    );
    assert.deepEqual(together, alone);
  });

  // With a coded cache each stream has exact rows of its own.
  for (const type of ["f16", "turbo4"]) {
    test(`batched, each gives the whole answer that llama.cpp alone gave to its own question: ${type}`, async () => {
      await using inference = await Inference.open(model, {
        libraryPath,
        cacheTypeK: type,
        cacheTypeV: type,
        contextSize: 256,
        maxStreams: 8,
      });
      // Sums in a batch round differently, so the questions are ones whose tokens are all far ahead of the next likeliest.
      const questions = expectations.chats.filter(({ margin }) => margin > 4).slice(0, 8);
      assert.equal(questions.length, 8);
      const answers = await Promise.all(
        questions.map(({ messages }) => inference.stream(messages.slice(0, -1), { maxTokens: 48 }).text()),
      );
      assert.deepEqual(
        answers.map((answer) => answer.trim()),
        questions.map(({ messages }) => messages.at(-1)?.content),
      );
      assert.equal(inference.report().kv.caches[0]?.streams, 8);
    });
  }

  test("file reads and timers run while all eight generate", async () => {
    await using inference = await Inference.open(model, { libraryPath, contextSize: 512 });
    const running = prompts.map((prompt, seed) => {
      const stream = inference.stream(prompt, { maxTokens: 64, temperature: 1.5, seed });
      return { stream, first: stream.next() };
    });
    await Promise.all(running.map(({ first }) => first));
    let finished = 0;
    const rest = running.map(async ({ stream }) => {
      await stream.text();
      finished += 1;
    });
    let ticks = 0;
    const timer = setInterval(() => ticks++, 5);
    const file = fileURLToPath(import.meta.url);
    for (let i = 0; i < 5; i++) await Promise.all(Array.from({ length: 8 }, () => readFile(file)));
    assert.ok(finished < 8, "forty reads waited for the streams");
    await Promise.all(rest);
    clearInterval(timer);
    assert.ok(ticks > 0);
  });
});

test("200 opens, streams and closes leave resident memory within 20 MB", async () => {
  const script = fileURLToPath(new URL("memory-cycles.ts", import.meta.url));
  const args = ["--conditions=source", "--import", "tsx", "--expose-gc", script, model, libraryPath];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    maxBuffer: 1 << 20,
    // One arena for all threads: how many glibc makes, and fills, depends on what else the machine does.
    env: { ...process.env, MALLOC_ARENA_MAX: "1" },
  });
  const { streams, models } = JSON.parse(stdout) as Record<"streams" | "models", { growthBytes: number }>;
  assert.ok(streams.growthBytes < 20e6, `200 streams: ${streams.growthBytes} bytes`);
  assert.ok(models.growthBytes < 20e6, `20 models: ${models.growthBytes} bytes`);
});

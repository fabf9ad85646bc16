import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Inference } from "../../src/inference.ts";
import { anyModel, libraryUnderTest } from "./engine-under-test.ts";

const libraryPath = await libraryUnderTest();
const model = await anyModel();
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

  test("batched, each keeps to its own sequence", async () => {
    await using inference = await Inference.open(model, { libraryPath, contextSize: 256, maxStreams: 8 });
    const first: number[][] = [];
    for (const prompt of prompts) {
      for await (const { tokens } of inference.stream(prompt, { maxTokens: 1 })) first.push(tokens);
    }
    const streams = prompts.map((prompt) => inference.stream(prompt, { maxTokens: 16 }));
    const together = await Promise.all(
      streams.map(async (stream) => {
        const ids: number[] = [];
        for await (const { tokens } of stream) ids.push(...tokens);
        return ids;
      }),
    );
    // Sums in a batch round differently, so only the first token, which a whole prompt decides, is compared.
    assert.deepEqual(
      together.map((ids) => ids.slice(0, 1)),
      first,
    );
    for (const ids of together) assert.ok(ids.length > 0 && ids.length <= 16);
    assert.equal(inference.report().kv.caches[0]?.streams, 8);
  });

  test("file reads and timers run while all eight generate", async () => {
    await using inference = await Inference.open(model, { libraryPath, contextSize: 512 });
    const running = prompts.map((prompt, seed) => {
      const stream = inference.stream(prompt, { maxTokens: 64, temperature: 1.5, seed });
      return { stream, first: stream.next() };
    });
    await Promise.all(running.map(({ first }) => first));
    let finished = 0;
    const rest = running.map(async ({ stream }) => {
      for await (const chunk of stream) assert.ok(chunk);
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
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 1 << 20 });
  const { streams, models } = JSON.parse(stdout) as Record<"streams" | "models", { growthBytes: number }>;
  assert.ok(streams.growthBytes < 20e6, `200 streams: ${streams.growthBytes} bytes`);
  assert.ok(models.growthBytes < 20e6, `20 models: ${models.growthBytes} bytes`);
});

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { after, test } from "node:test";
import { InferenceError } from "eliza-inference";
import { type FirstSteps, firstAnswer } from "../src/first-answer.ts";
import { createReporter } from "../src/reporter.ts";
import { fakeEngine } from "./fake-engine.ts";

const folder = await mkdtemp(join(tmpdir(), "eliza-first-"));
after(() => rm(folder, { recursive: true, force: true }));
const pico = join(folder, "pico.gguf");
await writeFile(pico, "GGUF");

async function run(args: string[], steps: Partial<FirstSteps>) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const host = { stdin: new PassThrough(), stdout, stderr, engine: fakeEngine };
  const status = await firstAnswer(args, host, createReporter(host, false), {
    buildNative: async (onStage) => {
      onStage("fetching");
      return undefined;
    },
    pullDefault: async () => assert.fail("nothing is to be pulled"),
    picoFolder: folder,
    ...steps,
  });
  return { status, out: String(stdout.read() ?? ""), err: String(stderr.read() ?? "") };
}

const offline = new InferenceError(
  "ALL_SOURCES_FAILED",
  "no source gave smollm2-135m",
  "Give another source.",
);

test("it builds, pulls, answers through compressed K and V, and reports", async () => {
  const ran = await run([], { pullDefault: async () => join(folder, "chat.gguf") });
  assert.equal(ran.status, 0);
  const said = JSON.parse(ran.out);
  assert.deepEqual(said.openOptions, { cacheTypeK: "turbo4", cacheTypeV: "turbo4" });
  assert.match(said.input[0].content, /why is the sky blue/);
  assert.match(ran.err, /native library: fetching/);
  assert.match(ran.err, /K turbo4, V f16: 12,345 KV bytes a token/);
});

test("--offline takes the repository's own model, and a question may be given", async () => {
  const ran = await run(["--offline", "Who", "are you?"], {});
  assert.equal(ran.status, 0);
  assert.equal(JSON.parse(ran.out).input[0].content, "Who are you?");
});

test("when no source answers, the repository's own model does, with a notice", async () => {
  const ran = await run([], { pullDefault: () => Promise.reject(offline) });
  assert.equal(ran.status, 0);
  assert.match(ran.err, /no source gave smollm2-135m\nsmollm2-135m could not be fetched/);
});

test("without any model the first reason is told", async () => {
  const ran = await run([], { pullDefault: () => Promise.reject(offline), picoFolder: join(folder, "none") });
  assert.equal(ran.status, 1);
  assert.match(ran.err, /error ALL_SOURCES_FAILED/);
  assert.equal((await run(["--offline"], { picoFolder: join(folder, "none") })).status, 1);
});

test("a cancelled pull and a full disk are no reason to go on", async () => {
  const of = (code: "CANCELLED" | "DISK_FULL") =>
    run([], { pullDefault: () => Promise.reject(new InferenceError(code, "x", "y")) });
  assert.equal((await of("CANCELLED")).status, 130);
  const full = await of("DISK_FULL");
  assert.equal(full.status, 1);
  assert.equal(full.out, "");
});

test("a build that fails, and a flag that is none, are told", async () => {
  const failed = await run([], {
    buildNative: () =>
      Promise.reject(Object.assign(new Error("no cmake"), { code: "TOOL_MISSING", hint: "apt" })),
  });
  assert.equal(failed.status, 1);
  assert.match(failed.err, /error TOOL_MISSING: no cmake\napt/);
  assert.equal((await run(["--ofline"], {})).status, 2);
});

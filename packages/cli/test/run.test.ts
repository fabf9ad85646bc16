import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { jsonLines, modelFile, runProgram } from "./run-program.ts";

test("the answer alone goes to stdout, the report to stderr", async () => {
  const ran = await runProgram(["run", await modelFile("chat.gguf"), "Hello", "there"], {
    environment: { FAKE_SAYS_CLOSED: "1" },
  });
  assert.equal(ran.status, 0, ran.err);
  const input = [{ role: "user", content: "Hello there" }];
  assert.deepEqual(JSON.parse(ran.out), { input, openOptions: {}, options: {} });
  assert.equal(
    ran.err,
    "fake 1.0 · CPU (none) · K f16, V f16: 12,345 KV bytes a token\n" +
      "4 prompt tokens · first token after 12 ms · 3 tokens at 20.0 a second · stop\nclosed\n",
  );
});

test("every flag reaches the library", async () => {
  const flags =
    "--cache-type-k turbo4 --cache-type-v q8_0 -c 512 --n-gpu-layers 0 -t 2 --temperature 0.5 --top-p 0.9 --top-k 40 " +
    "--repeat-penalty 1.1 --seed 7 -n 9";
  const model = await modelFile("chat.gguf");
  const ran = await runProgram([...flags.split(" "), "--system", "Be brief.", "run", model, "--", "--hi"]);
  assert.equal(ran.status, 0, ran.err);
  assert.deepEqual(JSON.parse(ran.out), {
    input: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "--hi" },
    ],
    openOptions: { contextSize: 512, cacheTypeK: "turbo4", cacheTypeV: "q8_0", threads: 2, gpuLayers: 0 },
    options: { maxTokens: 9, temperature: 0.5, topP: 0.9, topK: 40, repeatPenalty: 1.1, seed: 7 },
  });
});

test("--kv-map make waits for the map before the model is closed, and says what became of it", async () => {
  const environment = { FAKE_SAYS_CLOSED: "1" };
  const args = async (name: string) => ["--kv-map", "make", "run", await modelFile(name), "Hi"];
  const made = await runProgram(await args("chat.gguf"), { environment });
  assert.equal(made.status, 0, made.err);
  assert.match(
    made.err,
    /waiting for the learned map.*\n.*ready for the next time: \/maps\/x\.kvmap\nclosed\n$/,
  );
  const failed = await runProgram(await args("mapless.gguf"), { environment });
  assert.equal(failed.status, 0, "the answer was given");
  assert.match(failed.err, /no learned map was made: no map fits\nclosed\n$/);
});

test("--json gives a line for each piece and the whole report", async () => {
  const ran = await runProgram(["--json", "run", await modelFile("chat.gguf"), "Hi"]);
  const lines = jsonLines(ran.out);
  assert.deepEqual(
    lines.map((line) => line.event),
    ["text", "text", "report"],
  );
  assert.deepEqual(lines[0]?.tokens, [1, 2]);
  const { runtime, kv, finishReason } = lines[2] ?? {};
  assert.equal(runtime, "fake");
  assert.equal((kv as { bytesPerToken: number }).bytesPerToken, 12_345);
  assert.equal(finishReason, "stop");
  assert.equal(ran.err, "");
});

test("without a prompt it is read from standard input, whole", async () => {
  for (const operands of [[], ["-"]]) {
    const ran = await runProgram(["run", await modelFile("chat.gguf"), ...operands], {
      input: "line 1\nüber\n",
    });
    assert.deepEqual(JSON.parse(ran.out).input, [{ role: "user", content: "line 1\nüber" }]);
  }
  const empty = await runProgram(["run", await modelFile("chat.gguf")], { input: " \n" });
  assert.equal(empty.status, 2);
  assert.match(empty.err, /the prompt is empty/);
});

test("a base model continues the prompt and says so; --raw makes any model do that", async () => {
  const base = await runProgram(["run", await modelFile("base.gguf"), "Once"]);
  assert.equal(JSON.parse(base.out).input, "Once");
  assert.match(base.err, /no chat template: it continues the prompt/);
  const raw = await runProgram(["run", "--raw", await modelFile("chat.gguf"), "Once"]);
  assert.equal(JSON.parse(raw.out).input, "Once");
  const system = await runProgram(["run", "--system", "x", await modelFile("base.gguf"), "Once"]);
  assert.equal(system.status, 2);
  assert.match(system.err, /knows no system message/);
});

test("Ctrl-C stops the answer, keeps what was said, closes the model and exits with 130", async () => {
  const ran = await runProgram(["run", await modelFile("slow.gguf"), "Go"], {
    environment: { FAKE_SAYS_CLOSED: "1" },
    onOut: (out, child) => {
      // A wrapper passes the terminal's signal on: two signals are one press.
      if (out === "tick tick tick ") for (const _ of [1, 2]) child.kill("SIGINT");
    },
  });
  assert.equal(ran.status, 130);
  assert.match(ran.out, /^(tick ){3,}\n$/);
  assert.match(ran.err, /cancelled\nclosed\n$/);
});

test("a reader that goes away ends the answer quietly", async () => {
  let stop: (() => void) | undefined;
  const ran = await runProgram(["run", await modelFile("slow.gguf"), "Go"], {
    onOut: (_, child) => {
      stop ??= () => child.stdout?.destroy();
      stop();
    },
  });
  assert.equal(ran.status, 0);
  assert.doesNotMatch(ran.err, /EPIPE|at .*\.ts/);
});

test("errors of the library come with code and hint, and as a JSON line", async () => {
  const model = await modelFile("large.gguf");
  const ran = await runProgram(["run", model, "Hi"]);
  assert.equal(ran.status, 1);
  assert.equal(ran.err, "error OUT_OF_MEMORY: 8.0 GB were needed, 2.0 GB are free\nUse --ctx-size 1024.\n");
  const json = await runProgram(["run", model, "Hi", "--json"]);
  assert.equal(json.status, 1);
  assert.deepEqual(jsonLines(json.out), [
    {
      event: "error",
      code: "OUT_OF_MEMORY",
      message: "8.0 GB were needed, 2.0 GB are free",
      hint: "Use --ctx-size 1024.",
    },
  ]);
  const fault = await runProgram(["run", await modelFile("broken.gguf"), "Hi"]);
  assert.equal(fault.status, 1);
  assert.match(fault.err, /^error INTERNAL: a fault of ours\nThis is a fault of the program/);
});

test("a model that is not there is told with what to do", async () => {
  const missing = await runProgram(["run", "smollm2-135m", "Hi"]);
  assert.equal(missing.status, 1);
  assert.match(missing.err, /MODEL_NOT_FOUND.*\nRun: eliza-inference pull smollm2-135m/);
  const near = await runProgram(["run", "smolm2-135m", "Hi"]);
  assert.match(near.err, /Did you mean smollm2-135m\?/);
});

test("a full disk on stdout is an error, of an answer and of a list", {
  skip: existsSync("/dev/full") ? false : "no /dev/full here",
}, async () => {
  for (const args of [["run", await modelFile("chat.gguf"), "Hi"], ["models"], ["models", "--json"]]) {
    const ran = await runProgram(args, { outFile: "/dev/full" });
    assert.equal(ran.status, 1, args.join(" "));
    assert.match(ran.err, /error OUTPUT_LOST: standard output cannot be written: .*ENOSPC/);
  }
});

test("a mark of byte order in front of a prompt goes", async () => {
  const ran = await runProgram(["run", await modelFile("chat.gguf")], { input: "\uFEFFHello\n" });
  assert.deepEqual(JSON.parse(ran.out).input, [{ role: "user", content: "Hello" }]);
});

test("an error of the library names flags, not options of the API", async () => {
  const ran = await runProgram(["run", await modelFile("options.gguf"), "Hi"]);
  assert.match(ran.err, /--top-p has no effect at temperature 0.*\n.*leave --top-p out, or --ctx-size\./);
});

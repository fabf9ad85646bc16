/**
 * `npm run bench -- runtimes [MODEL.gguf MODEL.litertlm]`: the same prompt to llama.cpp and to LiteRT-LM, each chosen by
 * what lies in the bundle and by ELIZA_LLM_BACKEND, each answer in a process of its own, in turns.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { userFolders } from "@eliza-inference/fetch";
import type { InferenceReport, StreamReport } from "eliza-inference";

const rounds = 3;
const question = "What is the capital of France?";
const maxTokens = 32;

interface Answer {
  text: string;
  openMs: number;
  timing: StreamReport["timing"];
  peakMiB: number;
  report: Pick<InferenceReport, "runtime" | "runtimeVersion" | "device" | "capabilities" | "candidates">;
}

export async function run(args: string[]): Promise<void> {
  const json = args.includes("--json");
  const [gguf, litertlm] = await models(args.filter((arg) => !arg.startsWith("--")));
  const folder = await mkdtemp(join(tmpdir(), "eliza-runtimes-"));
  try {
    const bundle = async (name: string, files: string[]): Promise<string> => {
      const text = join(folder, name, "text");
      await mkdir(text, { recursive: true });
      for (const file of files) await symlink(file, join(text, `model${/\.\w+$/.exec(file)?.[0]}`));
      return join(folder, name);
    };
    const both = await bundle("both", [gguf, litertlm]);
    const ways = [
      { way: "only a .gguf lies there", model: await bundle("gguf", [gguf]), backend: "" },
      { way: "only a .litertlm lies there", model: await bundle("litertlm", [litertlm]), backend: "" },
      { way: "both, nothing said", model: both, backend: "" },
      { way: "both, ELIZA_LLM_BACKEND=llama.cpp", model: both, backend: "llama.cpp" },
      { way: "both, ELIZA_LLM_BACKEND=litert-lm", model: both, backend: "litert-lm" },
    ].map((each) => ({ ...each, answers: [] as Answer[] }));
    for (const { model } of ways) answer(model, ""); // files are read, and packed weights made, before anything counts
    for (let round = 0; round < rounds; round++) {
      for (const way of ways) way.answers.push(answer(way.model, way.backend));
    }
    if (json) console.log(JSON.stringify(ways, null, 2));
    else for (const { way, answers } of ways) print(way, answers);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function answer(model: string, backend: string): Answer {
  const program = fileURLToPath(new URL("one-answer.ts", import.meta.url));
  const start = fileURLToPath(new URL("../../scripts/ts.mjs", import.meta.url));
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [start, program, model, question, String(maxTokens)],
    { env: { ...process.env, ELIZA_LLM_BACKEND: backend }, encoding: "utf8", maxBuffer: 1 << 26 },
  );
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
}

function print(way: string, answers: Answer[]): void {
  const [first] = answers;
  const { runtime, runtimeVersion, device, capabilities, candidates } = first!.report;
  const median = (of: (answer: Answer) => number): string =>
    answers
      .map(of)
      .sort((a, b) => a - b)
      [Math.floor(answers.length / 2)]!.toFixed(1);
  console.log(`${way}: ${runtime} ${runtimeVersion} on ${device}`);
  console.log(`  ${JSON.stringify(first!.text)}`);
  console.log(
    `  open ${median((each) => each.openMs)} ms, first token ${median((each) => each.timing.timeToFirstTokenMs)} ms, ` +
      `${median((each) => each.timing.tokensPerSecond)} tokens/s, peak ${median((each) => each.peakMiB)} MiB`,
  );
  console.log(`  can ${capabilities.join(", ")}`);
  for (const { runtime: name, chosen, reason } of candidates) {
    console.log(`  ${chosen ? "*" : " "} ${name}: ${reason}`);
  }
}

async function models(given: string[]): Promise<[string, string]> {
  const [gguf, litertlm] = given.map((path) => resolve(path));
  if (gguf !== undefined && litertlm !== undefined) return [gguf, litertlm];
  const { cache, models } = userFolders();
  const found: [string, string] = [
    join(models, "SmolLM2-135M-Instruct.Q4_1.gguf"),
    join(cache, "litertlm", "models", "smollm2-135m.litertlm"),
  ];
  for (const path of found) {
    if (!existsSync(path)) {
      throw new Error(`${path} is not there: pull smollm2-135m, and npm run make:litertlm -- smollm2-135m`);
    }
  }
  return found;
}

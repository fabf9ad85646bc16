import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { ensureNativeLibrary } from "@eliza-inference/build";
import { Inference, resolveModel } from "eliza-inference";
import { type Summary, show, summarise } from "../statistics/summary.ts";
import { installNodeLlamaCpp, runNodeLlamaCpp } from "./peer-node-llama-cpp.ts";

const PROMPT = "Write a long story about a lighthouse keeper and the sea.";

interface Generation {
  tokens: number;
  tokensPerSecond: number;
  firstTokenMs: number;
}

interface Row {
  threads: number;
  cLoop: Summary;
  iterator: Summary;
  nodeLlamaCpp: Summary | null;
  /** iterator over C loop, round by round */
  ratio: Summary;
  nodeLlamaCppRatio: Summary | null;
  firstTokenMs: { cLoop: Summary; iterator: Summary; nodeLlamaCpp: Summary | null };
}

/** Tokens per second of the async iterator against a C loop over the same library and against node-llama-cpp, in turn. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      json: { type: "boolean", default: false },
      model: { type: "string", default: "smollm2-135m" },
      rounds: { type: "string", default: "7" },
      tokens: { type: "string", default: "160" },
      "cache-type-k": { type: "string", default: "f16" },
      "cache-type-v": { type: "string", default: "f16" },
      "no-peer": { type: "boolean", default: false },
    },
  });
  const { path } = await resolveModel(values.model);
  const library = process.env.ELIZA_INFERENCE_LIBRARY ?? (await ensureNativeLibrary()).library;
  const peer = values["no-peer"] ? undefined : await installNodeLlamaCpp();
  const cores = availableParallelism();
  const rows: Row[] = [];
  for (const threads of [...new Set([cores, Math.max(1, cores - 1)])]) {
    rows.push(
      await measure(path, library, peer, threads, Number(values.tokens), Number(values.rounds), values),
    );
  }
  if (values.json) {
    console.log(
      JSON.stringify(
        { benchmark: "overhead", model: values.model, tokens: Number(values.tokens), cores, rows },
        null,
        2,
      ),
    );
    return;
  }
  console.log(
    `${values.model}, greedy, ${values.tokens} tokens, median (range) of ${values.rounds} rounds, tokens per second`,
  );
  for (const row of rows) {
    console.log(
      `${row.threads} thread(s): C loop ${show(row.cLoop)}; iterator ${show(row.iterator)}, ratio ${show(row.ratio, 3)}` +
        (row.nodeLlamaCpp
          ? `; node-llama-cpp ${show(row.nodeLlamaCpp)}, ratio ${show(row.nodeLlamaCppRatio!, 3)}`
          : ""),
    );
  }
}

async function measure(
  model: string,
  library: string,
  peer: string | undefined,
  threads: number,
  maxTokens: number,
  rounds: number,
  types: { "cache-type-k": string; "cache-type-v": string },
): Promise<Row> {
  await using inference = await Inference.open(model, {
    threads,
    libraryPath: library,
    cacheTypeK: types["cache-type-k"],
    cacheTypeV: types["cache-type-v"],
  });
  const prompt = inference.report().model.chatTemplate
    ? inference.renderPrompt([{ role: "user", content: PROMPT }])
    : PROMPT;
  const ids = Array.from(
    await inference.tokenize(prompt, { parseSpecial: true, addSpecial: !prompt.startsWith("<") }),
  );
  const loop = join(dirname(library), "eliza-stream-loop");
  const loopArgs = [model, String(maxTokens), String(threads), types["cache-type-k"], types["cache-type-v"]];
  const all: { c: Generation; js: Generation; peer: Generation | undefined }[] = [];
  for (let round = -1; round < rounds; round++) {
    const c = await cLoop(loop, loopArgs, ids);
    const js = await iterate(inference, prompt, maxTokens);
    const other = peer ? await runNodeLlamaCpp(peer, model, maxTokens, threads, ids) : undefined;
    if (round >= 0) all.push({ c, js, peer: other }); // the first round warms the page cache
  }
  const of = (pick: (g: Generation) => number, who: "c" | "js" | "peer") =>
    summarise(all.flatMap((round) => (round[who] ? [pick(round[who])] : [])));
  const rate = (g: Generation) => g.tokensPerSecond;
  const first = (g: Generation) => g.firstTokenMs;
  const ratio = (who: "js" | "peer") =>
    summarise(
      all.flatMap((round) => (round[who] ? [round[who].tokensPerSecond / round.c.tokensPerSecond] : [])),
    );
  return {
    threads,
    cLoop: of(rate, "c"),
    iterator: of(rate, "js"),
    nodeLlamaCpp: peer ? of(rate, "peer") : null,
    ratio: ratio("js"),
    nodeLlamaCppRatio: peer ? ratio("peer") : null,
    firstTokenMs: {
      cLoop: of(first, "c"),
      iterator: of(first, "js"),
      nodeLlamaCpp: peer ? of(first, "peer") : null,
    },
  };
}

async function cLoop(program: string, args: string[], ids: readonly number[]): Promise<Generation> {
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.end(ids.join(" "));
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  const status = await new Promise((resolve) => child.on("close", resolve));
  if (status !== 0) throw new Error(`${program} ended with ${status}`);
  return JSON.parse(output);
}

async function iterate(inference: Inference, prompt: string, maxTokens: number): Promise<Generation> {
  const start = performance.now();
  let first = 0;
  let last = 0;
  let tokens = 0;
  for await (const chunk of inference.stream(prompt, { maxTokens })) {
    if (chunk.tokens.length === 0) continue;
    last = performance.now();
    if (tokens === 0) first = last;
    tokens += chunk.tokens.length;
  }
  return { tokens, firstTokenMs: first - start, tokensPerSecond: ((tokens - 1) * 1000) / (last - first) };
}

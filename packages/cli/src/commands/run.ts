import { once } from "node:events";
import { readFile } from "node:fs/promises";
import {
  type CachePreset,
  type ChatMessage,
  type JsonSchema,
  type OpenOptions,
  placeModel,
  type StreamOptions,
} from "eliza-inference";
import { answer } from "../answer.ts";
import { type CommandLine, UsageError } from "../command-line.ts";
import { converse } from "../conversation.ts";
import type { Host, Input } from "../host.ts";
import { waitForMap } from "../made-map.ts";
import { openModel } from "../open-model.ts";
import type { Reporter } from "../reporter.ts";

/** `run MODEL [PROMPT]`; returns the exit status. */
export async function run(host: Host, line: CommandLine, reporter: Reporter): Promise<number> {
  const [model, ...words] = line.operands;
  if (model === undefined) {
    throw new UsageError(
      "run needs a model",
      "Give a known name, a .gguf file or a bundle; see: eliza-inference models",
    );
  }
  const given = words.length > 0 && words.join(" ") !== "-" ? words.join(" ") : undefined;
  const converses = words.length === 0 && host.stdin.isTTY === true;
  const isRaw = line.isSet("raw");
  if (isRaw && (converses || line.isSet("system"))) {
    throw new UsageError(
      converses ? "--raw needs a prompt" : "--system does not go with --raw",
      `For example: eliza-inference run ${model} --raw "Once upon a time"`,
    );
  }
  const { path } = await placeModel(model, line.text("runtime"));
  const prompt = converses ? "" : (given ?? (await readAll(host.stdin)));
  if (!converses && prompt.trim() === "")
    throw new UsageError("the prompt is empty", "Give some text to answer.");

  const held = await heldTo(line);
  const opened = await openModel(host, path, openOptions(line), reporter);
  try {
    const { model: about, preset, hint } = opened.report();
    const answers = about.chatTemplate !== "";
    if (preset) reporter.note(`cache ${preset.name}: ${preset.why}`);
    if (hint && (preset || line.text("kv-map") === "make")) reporter.note(hint);
    if (!answers && (converses || line.isSet("system"))) {
      throw new UsageError(
        `${model} has no chat template: it continues a text, and knows no ${converses ? "conversation" : "system message"}`,
        `Give it a beginning: eliza-inference run ${model} "Once upon a time"`,
      );
    }
    const system = line.text("system");
    const before: ChatMessage[] = system === undefined ? [] : [{ role: "system", content: system }];
    const options = { ...streamOptions(line), ...held };
    if (converses) {
      const status = await converse(host, opened, before, options, reporter);
      await waitForMap(opened, reporter);
      return status;
    }
    if (!answers && !isRaw) reporter.note(`${model} has no chat template: it continues the prompt`);
    const input = answers && !isRaw ? [...before, { role: "user" as const, content: prompt }] : prompt;
    const start = (signal: AbortSignal) => opened.stream(input, { ...options, signal });
    const { status } = await answer(host, start, reporter);
    if (status === 0) await waitForMap(opened, reporter);
    return status;
  } finally {
    await opened.close();
  }
}

function openOptions(line: CommandLine): OpenOptions {
  const options: OpenOptions = {};
  const contextSize = line.number("ctx-size");
  const cache = line.text("cache");
  const cacheTypeK = line.text("cache-type-k");
  const cacheTypeV = line.text("cache-type-v");
  const kvMap = line.text("kv-map");
  const runtime = line.text("runtime");
  const exactTokens = line.number("exact-tokens");
  const exactSinks = line.number("exact-sinks");
  const threads = line.number("threads");
  const gpuLayers = line.number("n-gpu-layers");
  if (contextSize !== undefined && contextSize > 0) options.contextSize = contextSize;
  if (cache !== undefined) options.cache = cache as CachePreset; // open says what it may be
  if (cacheTypeK !== undefined) options.cacheTypeK = cacheTypeK;
  if (cacheTypeV !== undefined) options.cacheTypeV = cacheTypeV;
  if (kvMap !== undefined) options.kvMap = kvMap;
  if (runtime !== undefined) options.runtime = runtime;
  if (exactTokens !== undefined) options.exactTokens = exactTokens;
  if (exactSinks !== undefined) options.exactSinks = exactSinks;
  if (threads !== undefined) options.threads = threads;
  if (gpuLayers !== undefined) options.gpuLayers = gpuLayers;
  return options;
}

function streamOptions(line: CommandLine): StreamOptions {
  const options: StreamOptions = {};
  const numbers = {
    maxTokens: line.number("max-tokens"),
    temperature: line.number("temperature"),
    topP: line.number("top-p"),
    topK: line.number("top-k"),
    minP: line.number("min-p"),
    repeatPenalty: line.number("repeat-penalty"),
    presencePenalty: line.number("presence-penalty"),
    frequencyPenalty: line.number("frequency-penalty"),
    seed: line.number("seed"),
  };
  for (const [name, value] of Object.entries(numbers)) {
    if (value !== undefined) options[name as keyof typeof numbers] = value;
  }
  return options;
}

/** What the answer's text is held to, from files. */
async function heldTo(line: CommandLine): Promise<Pick<StreamOptions, "grammar" | "jsonSchema">> {
  const [grammar, schema] = [line.text("grammar"), line.text("json-schema")];
  const held: Pick<StreamOptions, "grammar" | "jsonSchema"> = {};
  if (grammar !== undefined) held.grammar = await readFlagFile("grammar", grammar);
  if (schema === undefined) return held;
  const text = await readFlagFile("json-schema", schema);
  try {
    held.jsonSchema = JSON.parse(text) as JsonSchema;
  } catch (error) {
    throw new UsageError(
      `${schema} is no JSON: ${(error as Error).message}`,
      "Give a file with a JSON schema.",
    );
  }
  return held;
}

async function readFlagFile(flag: string, path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(`--${flag}: ${path} cannot be read (${code})`, "Give the path of a file.");
  }
}

async function readAll(input: Input): Promise<string> {
  const pieces: Buffer[] = [];
  input.on("data", (piece: Buffer | string) => pieces.push(Buffer.from(piece)));
  if (!input.readableEnded) await once(input, "end");
  return Buffer.concat(pieces)
    .toString("utf8")
    .replace(/^\uFEFF/, "") // a mark of some editors, no text
    .replace(/\r?\n$/, "");
}

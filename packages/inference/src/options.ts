import type { Rules } from "./arguments/check.ts";
import { checkOptions } from "./arguments/check.ts";
import { integer, listOf, name, oneOf, real, record, shown, signal } from "./arguments/rule.ts";
import { type CachePreset, cachePresets } from "./cache-presets.ts";
import type { ChatMessage, ChatOptions } from "./chat/index.ts";
import { InferenceError } from "./errors.ts";

export interface OpenOptions {
  /** Tokens that a stream can hold. Defaults to the model's own, within the library's bound (4096). */
  contextSize?: number;
  /**
   * The KV cache by what it should be like: "f16" codes nothing, "balanced" takes about 4 bits a value, "small" about 3,
   * "smallest" about 2. Which types that means for this model is in the report. Instead of cacheTypeK and cacheTypeV.
   */
  cache?: CachePreset;
  /** KV cache type of K, by name. Defaults to "f16". */
  cacheTypeK?: string;
  /** KV cache type of V, by name. Defaults to "f16". */
  cacheTypeV?: string;
  /**
   * The learned map of the cache: "auto" (the default) uses what `calibrate` wrote beside the model or in the user's
   * folder, if it did and a cache type is coded; "make" does the same and, where there is none, makes one beside the
   * other work, for the next time the model is opened; "off" uses none; anything else is that file.
   */
  kvMap?: string;
  /**
   * Of each sequence, how many of the latest tokens stay f16 beside a coded cache, so that they are read exactly; 0 for
   * none. Beyond the context it is the context. Defaults to 128; of no effect where neither K nor V is coded.
   */
  exactTokens?: number;
  /** The same of the first tokens of each sequence. Defaults to 4. */
  exactSinks?: number;
  /** Threads that compute. Defaults to the processor's cores. */
  threads?: number;
  /** Layers on a GPU: -1 for all where there is one, 0 for none. Defaults to -1. */
  gpuLayers?: number;
  /** Tokens that a decode call may hold. Defaults to 512. */
  batchSize?: number;
  /** Tokens computed at once; cancellation waits for at most one such piece. Defaults to batchSize. */
  ubatchSize?: number;
  /** Streams that share one cache and are decoded together. Beyond them, streams get a cache of their own and take turns. Defaults to 1. */
  maxStreams?: number;
  /**
   * The runtime that must answer, by name, such as "llama.cpp"; nothing else is taken in its place. Defaults to
   * ELIZA_LLM_BACKEND, or the best that can serve the model.
   */
  runtime?: string;
  /** The native library's file. Defaults to ELIZA_INFERENCE_LIBRARY, the platform package's or the built one. */
  libraryPath?: string;
  /** Stops the opening, which then throws CANCELLED with the signal's reason as cause. */
  signal?: AbortSignal;
}

export interface StreamOptions {
  /** Tokens to generate at most. Defaults to what the context holds. */
  maxTokens?: number;
  /** 0 is greedy. Defaults to 0. */
  temperature?: number;
  /** Nucleus sampling, between 0 and 1. Off by default. */
  topP?: number;
  /** Keep the k likeliest tokens. Off by default. */
  topK?: number;
  /** Keep tokens of at least this share of the likeliest one's probability. Off by default. */
  minP?: number;
  /** Makes tokens of the last 64 less likely when above 1. Off by default. */
  repeatPenalty?: number;
  /** Of the random draws, 0 to 2^32 − 1. Drawn from the system by default. */
  seed?: number;
  /** Texts before the first of which the generation ends: at most 16, of 1 to 256 bytes each. None by default. */
  stop?: readonly string[];
  /** Stops the generation; the iterator then throws CANCELLED with the signal's reason as cause. */
  signal?: AbortSignal;
  /** Variables of the chat template, such as enable_thinking, and tools. */
  chat?: ChatOptions;
}

/** Of a session: what may be said of each of its generations too. */
export type SamplingOptions = Omit<StreamOptions, "signal" | "chat">;

const count = integer(1);

export const openRules: Rules<OpenOptions> = {
  contextSize: count,
  cache: oneOf(cachePresets),
  cacheTypeK: name,
  cacheTypeV: name,
  kvMap: name,
  exactTokens: integer(0, 2 ** 31 - 1),
  exactSinks: integer(0, 2 ** 31 - 1),
  threads: integer(1, 512),
  gpuLayers: integer(-1),
  batchSize: integer(1, 65536),
  ubatchSize: integer(1, 65536),
  maxStreams: integer(1, 256),
  runtime: name,
  libraryPath: name,
  signal,
};

export const samplingRules: Rules<SamplingOptions> = {
  maxTokens: count,
  temperature: real(0, 100),
  topP: real(0, 1),
  topK: integer(0),
  minP: real(0, 1),
  repeatPenalty: real(0, 100),
  seed: integer(0, 2 ** 32 - 1),
  stop: listOf(name, 0, 16),
};

export const streamRules: Rules<StreamOptions> = { ...samplingRules, signal, chat: record };

/**
 * The options of `Inference.open`, checked each and together.
 *
 * @throws InferenceError INVALID_ARGUMENT
 */
export function checkOpenOptions(given: unknown): OpenOptions {
  const options = checkOptions<OpenOptions>("Inference.open", given, openRules);
  const { batchSize = 512, ubatchSize, cache, cacheTypeK, cacheTypeV } = options;
  if (cache !== undefined && (cacheTypeK ?? cacheTypeV) !== undefined) {
    throw new InferenceError(
      "INVALID_ARGUMENT",
      `cache "${cache}" and a cache type of ${cacheTypeK === undefined ? "V" : "K"} are both given`,
      "Give cache, or cacheTypeK and cacheTypeV.",
    );
  }
  if (ubatchSize !== undefined && ubatchSize > batchSize) {
    throw new InferenceError(
      "INVALID_ARGUMENT",
      `ubatchSize ${ubatchSize} is larger than batchSize ${batchSize}`,
      "Make ubatchSize smaller, or batchSize larger.",
    );
  }
  return options;
}

/**
 * The options of one generation, or of all generations of a session.
 *
 * @throws InferenceError INVALID_ARGUMENT
 */
export function checkSampling<T extends SamplingOptions>(of: string, given: unknown, rules: Rules<T>): T {
  const options = checkOptions<T>(of, given, rules);
  const { temperature = 0, topK = 0, topP = 1, minP = 0 } = options;
  if (temperature > 0) return options;
  const without = topK > 0 ? "topK" : topP > 0 && topP < 1 ? "topP" : minP > 0 ? "minP" : undefined;
  if (without === undefined) return options;
  throw new InferenceError(
    "INVALID_ARGUMENT",
    `${without} has no effect at temperature 0, which takes the likeliest token`,
    `Give a temperature above 0, or leave ${without} out.`,
  );
}

/** Options of a generation by the names of the C ABI. */
export function configuration(options: SamplingOptions): Record<string, unknown> {
  const { maxTokens, temperature, topP, topK, minP, repeatPenalty, seed, stop } = options;
  return {
    ...{ max_tokens: maxTokens, temperature, top_p: topP, top_k: topK, min_p: minP },
    ...{ repeat_penalty: repeatPenalty, seed, stop },
  };
}

/** @throws InferenceError INVALID_ARGUMENT for a text with a NUL, at which C would end it */
export function checkText(text: string): void {
  const at = text.indexOf("\0");
  if (at < 0) return;
  throw new InferenceError(
    "INVALID_ARGUMENT",
    `the text holds the character U+0000, at ${at}`,
    "Leave it out: it is no text.",
  );
}

/** @throws InferenceError INVALID_ARGUMENT unless it is a text or a list; renderChat looks at its messages */
export function checkPrompt(prompt: unknown): asserts prompt is string | readonly ChatMessage[] {
  if (typeof prompt === "string" || Array.isArray(prompt)) return;
  throw new InferenceError(
    "INVALID_ARGUMENT",
    `the prompt is ${shown(prompt)}`,
    'Give a string, or messages such as [{ role: "user", content: "Hello" }].',
  );
}

/** @throws InferenceError INVALID_ARGUMENT unless all are integers of 32 bits */
export function checkIds(ids: unknown): Int32Array {
  const list = ids as ArrayLike<unknown>;
  const isList = Array.isArray(ids) || (ArrayBuffer.isView(ids) && !(ids instanceof DataView));
  const wrong = isList
    ? Array.prototype.findIndex.call(list, (id) => !Number.isInteger(id) || id !== (id | 0))
    : -1;
  if (isList && wrong < 0) return Int32Array.from(list as ArrayLike<number>);
  throw new InferenceError(
    "INVALID_ARGUMENT",
    isList ? `token ${wrong} is ${shown(list[wrong])}` : `the tokens are ${shown(ids)}`,
    "Give token ids, as tokenize returns them.",
  );
}

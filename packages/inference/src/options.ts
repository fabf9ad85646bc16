import type { Rules } from "./arguments/check.ts";
import { checkOptions, checkValue } from "./arguments/check.ts";
import {
  callback,
  either,
  flag,
  integer,
  listOf,
  name,
  numberOf,
  oneOf,
  real,
  record,
  recordOf,
  shown,
  signal,
} from "./arguments/rule.ts";
import { type CachePreset, cachePresets } from "./cache-presets.ts";
import type { ChatMessage, ChatOptions } from "./chat/index.ts";
import { InferenceError } from "./errors.ts";
import { type JsonSchema, jsonSchemaGrammar } from "./grammar/index.ts";

export interface OpenOptions {
  /** Tokens that a stream can hold. Defaults to the model's own, within the library's bound (4096). */
  contextSize?: number;
  /**
   * The KV cache by what it should be like: "f16" codes nothing, "balanced" takes about 4 bits for keys and 3 for values,
   * "small" about 3, "smallest" about 2. Which types that means for this model is in the report. Instead of cacheTypeK and cacheTypeV.
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
  /** Told the share of the model that is loaded, 0 to 1; one that throws stops the opening with what it threw. */
  onProgress?: (loaded: number) => void;
  /** Stops the opening, the load itself too, which then throws CANCELLED with the signal's reason as cause. */
  signal?: AbortSignal;
}

/** DRY (github.com/oobabooga/text-generation-webui/pull/5677): multiplier · base^(length of the repetition − allowedLength). */
export interface DryOptions {
  multiplier: number;
  /** Defaults to 1.75. */
  base?: number;
  /** Repetitions that cost nothing. Defaults to 2. */
  allowedLength?: number;
  /** Tokens that it looks back. Defaults to 4096. */
  lastN?: number;
  /** Texts across which nothing repeats. Defaults to a line's end, ":", "\"" and "*". */
  breakers?: readonly string[];
}

/** XTC (github.com/oobabooga/text-generation-webui/pull/6335). */
export interface XtcOptions {
  /** How often, 0 to 1. */
  probability: number;
  /** Tokens from this probability on are likely, 0 to 0.5. Defaults to 0.1. */
  threshold?: number;
}

export interface MirostatOptions {
  version: 1 | 2;
  /** The surprise that is aimed at, in bits. Defaults to 5. */
  tau?: number;
  /** How fast it gets there. Defaults to 0.1. */
  eta?: number;
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
  /** Locally typical sampling (arXiv:2202.00666), between 0 and 1. Off by default. */
  typicalP?: number;
  /** Makes tokens of the last `penaltyLastN` less likely when above 1. Off by default. */
  repeatPenalty?: number;
  /** Taken from the logit of every token among the last `penaltyLastN`, −100 to 100. Defaults to 0. */
  presencePenalty?: number;
  /** The same for each time that the token is among them. Defaults to 0. */
  frequencyPenalty?: number;
  /** How many tokens the three penalties look back. Defaults to 64. */
  penaltyLastN?: number;
  /** Makes tokens less likely that go on with what was said before. Off by default. */
  dry?: DryOptions;
  /** Now and then leaves out all but the least likely of the likely tokens. Off by default. */
  xtc?: XtcOptions;
  /** Draws at a steady surprise (arXiv:2007.14966), in place of topK, typicalP, topP, minP and xtc. Off by default. */
  mirostat?: MirostatOptions;
  /** By token id, what is added to its logit, −1000 to 1000. */
  logitBias?: Readonly<Record<number, number>>;
  /** GBNF that the text is held to; its first rule is called root. */
  grammar?: string;
  /** A JSON schema that the text is held to (`jsonSchemaGrammar`), in place of `grammar`. */
  jsonSchema?: JsonSchema;
  /**
   * Chunks name the log probability of each token and of so many of the likeliest, 0 to 20: the model's own, before any
   * sampler. Off by default.
   */
  logprobs?: number;
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
  onProgress: callback(),
  signal,
};

export const samplingRules: Rules<SamplingOptions> = {
  maxTokens: count,
  temperature: real(0, 100),
  topP: real(0, 1),
  topK: integer(0),
  minP: real(0, 1),
  typicalP: real(0, 1),
  repeatPenalty: real(0, 100),
  presencePenalty: real(-100, 100),
  frequencyPenalty: real(-100, 100),
  penaltyLastN: integer(0, 65536),
  dry: recordOf<DryOptions>(),
  xtc: recordOf<XtcOptions>(),
  mirostat: recordOf<MirostatOptions>(),
  logitBias: recordOf<Record<number, number>>(),
  grammar: name,
  jsonSchema: either(flag, record),
  logprobs: integer(0, 20),
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
  checkParts(of, options);
  const { temperature = 0, topK = 0, topP = 1, minP = 0, typicalP = 1, xtc, mirostat } = options;
  if (temperature > 0) return options;
  const ineffective = {
    ...{ topK: topK > 0, topP: topP > 0 && topP < 1, minP: minP > 0, typicalP: typicalP > 0 && typicalP < 1 },
    ...{ xtc: xtc !== undefined, mirostat: mirostat !== undefined },
  };
  const without = Object.entries(ineffective).find(([, isGiven]) => isGiven)?.[0];
  if (without === undefined) return options;
  throw new InferenceError(
    "INVALID_ARGUMENT",
    `${without} has no effect at temperature 0, which takes the likeliest token`,
    `Give a temperature above 0, or leave ${without} out.`,
  );
}

const dryRules: Rules<DryOptions> = {
  multiplier: real(0, 100),
  base: real(1, 100),
  allowedLength: integer(1, 65536),
  lastN: integer(1, 65536),
  breakers: listOf(name, 0, 16),
};
const xtcRules: Rules<XtcOptions> = { probability: real(0, 1), threshold: real(0, 0.5) };
const mirostatRules: Rules<MirostatOptions> = {
  version: numberOf([1, 2]),
  tau: real(0.01, 100),
  eta: real(0.0001, 1),
};
const bias = real(-1000, 1000);

function checkParts(
  of: string,
  { dry, xtc, mirostat, logitBias, grammar, jsonSchema }: SamplingOptions,
): void {
  if (dry) needs(`${of}: dry`, checkOptions<DryOptions>(`${of}: dry`, dry, dryRules), "multiplier");
  if (xtc) needs(`${of}: xtc`, checkOptions<XtcOptions>(`${of}: xtc`, xtc, xtcRules), "probability");
  if (mirostat) {
    needs(
      `${of}: mirostat`,
      checkOptions<MirostatOptions>(`${of}: mirostat`, mirostat, mirostatRules),
      "version",
    );
  }
  for (const [id, value] of Object.entries(logitBias ?? {})) {
    checkValue(`the token of a logitBias`, Number(id), integer(0));
    checkValue(`logitBias of token ${id}`, value, bias);
  }
  if (grammar === undefined || jsonSchema === undefined) return;
  throw new InferenceError(
    "INVALID_ARGUMENT",
    `${of} has a grammar and a jsonSchema`,
    "Give one of them: a schema is held to by a grammar of its own.",
  );
}

function needs<T extends object>(of: string, given: T, key: keyof T & string): void {
  if (given[key] !== undefined) return;
  throw new InferenceError("INVALID_ARGUMENT", `${of} has no ${key}`, `Give ${key}, or leave it out whole.`);
}

/** Options of a generation by the names of the C ABI; what is not given is not named. */
export function configuration(options: SamplingOptions): Record<string, unknown> {
  const { maxTokens, temperature, topP, topK, minP, repeatPenalty, seed, stop, dry, xtc, mirostat } = options;
  return {
    ...{ max_tokens: maxTokens, temperature, top_p: topP, top_k: topK, min_p: minP, seed, stop },
    ...{
      typical_p: options.typicalP,
      repeat_penalty: repeatPenalty,
      presence_penalty: options.presencePenalty,
    },
    ...{ frequency_penalty: options.frequencyPenalty, penalty_last_n: options.penaltyLastN },
    ...{ dry_multiplier: dry?.multiplier, dry_base: dry?.base, dry_allowed_length: dry?.allowedLength },
    ...{ dry_last_n: dry?.lastN, dry_breakers: dry?.breakers },
    ...{ xtc_probability: xtc?.probability, xtc_threshold: xtc?.threshold },
    ...{ mirostat: mirostat?.version, mirostat_tau: mirostat?.tau, mirostat_eta: mirostat?.eta },
    ...{ logit_bias: options.logitBias, logprobs: options.logprobs },
    grammar: options.jsonSchema === undefined ? options.grammar : jsonSchemaGrammar(options.jsonSchema),
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

import { type ChatMessage, type RenderChatOptions, renderChat, wantsBegin } from "./chat/index.ts";
import { InferenceError } from "./errors.ts";
import { readGguf } from "./gguf/index.ts";
import { chooseMap } from "./maps/index.ts";
import { resolveModel } from "./models/index.ts";
import { loadLibrary } from "./native/load-library.ts";
import type { CacheTypeInfo, ContextHandle, NativeLibrary, StreamHandle } from "./native/native-library.ts";
import { OutputPoller } from "./native/output-poller.ts";
import type { StreamConfig } from "./native/stream-config.ts";
import type { InferenceReport, StreamReport } from "./report.ts";
import { Session } from "./session.ts";
import { TokenStream } from "./token-stream.ts";

export interface OpenOptions {
  /** Tokens that a stream can hold. Defaults to the model's own, at most 4096. */
  contextSize?: number;
  /** KV cache type of K, by name. Defaults to "f16". */
  cacheTypeK?: string;
  /** KV cache type of V, by name. Defaults to "f16". */
  cacheTypeV?: string;
  /**
   * The learned map of the cache: "auto" (the default) uses what `calibrate` wrote beside the model or in the user's
   * folder, if it did and a cache type is coded; "off" uses none; anything else is that file.
   */
  kvMap?: string;
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
  /** The native library's file. Defaults to ELIZA_INFERENCE_LIBRARY, the platform package's or the built one. */
  libraryPath?: string;
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
  /** Stops the generation; the iterator then throws CANCELLED with the signal's reason as cause. */
  signal?: AbortSignal;
  /** Variables of the chat template, such as enable_thinking, and tools. */
  chat?: Pick<RenderChatOptions, "tools" | "variables">;
}

type Prompt = string | readonly ChatMessage[];

/**
 * A model, ready to generate inside this process.
 *
 * ```ts
 * await using inference = await Inference.open("smollm2-135m", { cacheTypeK: "turbo4", cacheTypeV: "turbo4" });
 * for await (const { text } of inference.stream("Why is the sky blue?")) process.stdout.write(text);
 * ```
 */
export class Inference {
  readonly #library: NativeLibrary;
  readonly #context: ContextHandle;
  readonly #poller: OutputPoller;
  readonly #options: OpenOptions;
  /** File of the map that the engine computes with. */
  readonly #solvedMap: string | undefined;
  // Whatever holds a native stream: closing waits for all of it.
  readonly #streams = new Set<TokenStream>();
  readonly #sessions = new Set<Session>();
  readonly #busy = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();
  #report!: InferenceReport;
  #closed: Promise<void> | undefined;

  private constructor(
    library: NativeLibrary,
    context: ContextHandle,
    options: OpenOptions,
    solvedMap: string | undefined,
  ) {
    this.#solvedMap = solvedMap;
    this.#library = library;
    this.#context = context;
    this.#options = options;
    this.#poller = new OutputPoller(library, context);
  }

  /**
   * Loads a model and makes room for one stream, so that what cannot work fails here.
   *
   * @param model a .gguf file, a bundle folder, or the name of a model that was pulled
   * @throws InferenceError MODEL_NOT_FOUND, MODEL_INVALID, CACHE_TYPE_UNSUPPORTED, BACKEND_UNAVAILABLE, OUT_OF_MEMORY,
   *   CONTEXT_FAILED, INVALID_ARGUMENT, MAP_NOT_FOUND, MAP_INVALID, MAP_MISMATCH, NATIVE_LIBRARY_MISSING, ABI_MISMATCH
   */
  static async open(model: string, options: OpenOptions = {}): Promise<Inference> {
    const { path } = await resolveModel(model);
    await readGguf(path); // says what is wrong with a file far better than the runtime does
    const library = await loadLibrary(options.libraryPath);
    const map = await chooseMap(path, {
      kvMap: options.kvMap ?? "auto",
      cacheTypeK: options.cacheTypeK ?? "f16",
      cacheTypeV: options.cacheTypeV ?? "f16",
      contextSize: checkInteger("contextSize", options.contextSize, 1),
    });
    const context = library.create(path);
    const inference = new Inference(library, context, { ...options }, map);
    try {
      const {
        timing: _,
        finishReason: __,
        ...report
      } = await inference.#withStream(async (stream) => (await library.report(stream)) as StreamReport);
      inference.#report = report;
    } catch (error) {
      await library.destroy(context);
      throw error;
    }
    return inference;
  }

  /**
   * Generates from a prompt as it stands, or from messages through the model's own chat template.
   * Nothing runs before the first read.
   */
  stream(prompt: Prompt, options: StreamOptions = {}): TokenStream {
    const signals = [this.#closing.signal, ...(options.signal ? [options.signal] : [])];
    const signal = AbortSignal.any(signals);
    const stream: TokenStream = new TokenStream(
      {
        library: this.#library,
        poller: this.#poller,
        start: async () => {
          this.#checkOpen();
          this.#streams.add(stream);
          try {
            return await this.#start(prompt, options);
          } catch (error) {
            this.#streams.delete(stream);
            throw error;
          }
        },
        close: async (native) => {
          await this.#library.close(native);
          this.#streams.delete(stream);
        },
      },
      signal,
    );
    return stream;
  }

  /**
   * A sequence that stays between generations, with these options for all of them. It holds its place among
   * `maxStreams` until it is closed.
   */
  session(options: Omit<StreamOptions, "signal" | "chat"> = {}): Promise<Session> {
    this.#checkOpen();
    const opening = (async () => {
      const stream = await this.#openStream(options);
      const session = new Session(
        {
          library: this.#library,
          poller: this.#poller,
          model: this.#report.model,
          closing: this.#closing.signal,
          renderPrompt: (messages, chat) => this.renderPrompt(messages, chat),
          forget: (closed) => this.#sessions.delete(closed),
        },
        stream,
      );
      this.#sessions.add(session);
      return session;
    })();
    return this.#track(opening);
  }

  /** What really runs. */
  report(): InferenceReport {
    return this.#report;
  }

  /** The KV cache types that the library knows. */
  cacheTypes(): CacheTypeInfo[] {
    return this.#library.cacheTypes();
  }

  /** Token ids of a text. `addSpecial` adds the model's begin token, `parseSpecial` reads markers such as <|im_end|>. */
  async tokenize(
    text: string,
    options: { addSpecial?: boolean; parseSpecial?: boolean } = {},
  ): Promise<Int32Array> {
    const { addSpecial = false, parseSpecial = false } = options;
    return this.#withStream((stream) => this.#library.tokenize(stream, text, { addSpecial, parseSpecial }));
  }

  /** The text of token ids; `special` spells control tokens out. */
  async detokenize(ids: ArrayLike<number>, options: { special?: boolean } = {}): Promise<string> {
    const { special = false } = options;
    return this.#withStream((stream) => this.#library.detokenize(stream, Int32Array.from(ids), special));
  }

  /** The prompt that messages become by the model's chat template. Throws CHAT_TEMPLATE_MISSING, CHAT_REFUSED, … */
  renderPrompt(messages: readonly ChatMessage[], options: RenderChatOptions = {}): string {
    const { chatTemplate, bosToken, eosToken, name, path } = this.#report.model;
    if (!chatTemplate) {
      throw new InferenceError(
        "CHAT_TEMPLATE_MISSING",
        `${name || path} has no chat template`,
        "Pass the prompt as a string, in the form that the model was trained on.",
      );
    }
    return renderChat(chatTemplate, messages, { bosToken, eosToken, ...options });
  }

  /** Stops every stream and frees the model. Safe to call twice. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    this.#closing.abort(new InferenceError("CLOSED", "the model was closed", "Open it again."));
    await Promise.all([...this.#streams].map((stream) => stream.return()));
    while (this.#busy.size > 0) await Promise.allSettled(this.#busy);
    await Promise.all([...this.#sessions].map((session) => session.close()));
    await this.#poller.stop();
    await this.#library.destroy(this.#context);
  }

  #checkOpen(): void {
    if (this.#closed) throw new InferenceError("CLOSED", "the model was closed", "Open it again.");
  }

  async #start(prompt: Prompt, options: StreamOptions): Promise<StreamHandle> {
    const stream = await this.#openStream(options);
    try {
      const text = typeof prompt === "string" ? prompt : this.renderPrompt(prompt, options.chat);
      const addSpecial = wantsBegin(text, this.#report.model.bosToken);
      const ids = this.#library.tokenize(stream, text, { addSpecial, parseSpecial: true });
      this.#library.prefill(stream, ids);
      return stream;
    } catch (error) {
      await this.#library.close(stream);
      throw error;
    }
  }

  #withStream<T>(use: (stream: StreamHandle) => T | Promise<T>): Promise<T> {
    this.#checkOpen();
    const work = (async () => {
      const stream = await this.#openStream({});
      try {
        return await use(stream);
      } finally {
        await this.#library.close(stream);
      }
    })();
    return this.#track(work);
  }

  /** Closing waits for this. */
  #track<T>(work: Promise<T>): Promise<T> {
    this.#busy.add(work);
    const done = (): boolean => this.#busy.delete(work);
    work.then(done, done);
    return work;
  }

  async #openStream(options: StreamOptions): Promise<StreamHandle> {
    const config: StreamConfig = {
      max_tokens: checkInteger("maxTokens", options.maxTokens, 1) ?? 0,
      temperature: checkNumber("temperature", options.temperature, 0, 100) ?? 0,
      top_p: checkNumber("topP", options.topP, 0, 1) ?? 0,
      top_k: checkInteger("topK", options.topK, 0) ?? 0,
      repeat_penalty: checkNumber("repeatPenalty", options.repeatPenalty, 0, 100) ?? 0,
      slot_id: -1,
      prompt_cache_key: null,
      draft_min: 0,
      draft_max: 0,
      mtp_drafter_path: null,
      gbnf_grammar: null,
      disable_thinking: 0,
      n_gpu_layers: checkInteger("gpuLayers", this.#options.gpuLayers, -1) ?? -1,
      cache_type_k: this.#options.cacheTypeK ?? null,
      cache_type_v: this.#options.cacheTypeV ?? null,
      context_size: checkInteger("contextSize", this.#options.contextSize, 1) ?? 0,
    };
    const extras = {
      run_ahead: true,
      seed: checkInteger("seed", options.seed, 0, 2 ** 32 - 1),
      min_p: checkNumber("minP", options.minP, 0, 1),
      threads: checkInteger("threads", this.#options.threads, 1),
      batch_size: checkInteger("batchSize", this.#options.batchSize, 1),
      ubatch_size: checkInteger("ubatchSize", this.#options.ubatchSize, 1),
      max_streams: checkInteger("maxStreams", this.#options.maxStreams, 1),
      kv_map: this.#solvedMap,
    };
    return this.#library.open(this.#context, config, extras);
  }
}

function checkNumber(name: string, value: number | undefined, low: number, high: number): number | undefined {
  if (value === undefined || (value >= low && value <= high)) return value;
  throw new InferenceError(
    "INVALID_ARGUMENT",
    `${name} is ${value}`,
    `Give a number from ${low} to ${high}.`,
  );
}

function checkInteger(
  name: string,
  value: number | undefined,
  low: number,
  high = 2 ** 31 - 1,
): number | undefined {
  if (value === undefined || (Number.isInteger(value) && value >= low && value <= high)) return value;
  throw new InferenceError(
    "INVALID_ARGUMENT",
    `${name} is ${value}`,
    `Give an integer from ${low} to ${high}.`,
  );
}

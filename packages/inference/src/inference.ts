import { checkOptions, checkValue } from "./arguments/check.ts";
import { flag, name, text } from "./arguments/rule.ts";
import { placeModel, requireWholeBundle } from "./bundle/index.ts";
import { choosePreset } from "./cache-presets.ts";
import {
  type ChatFormat,
  type ChatMessage,
  ChatPrompter,
  checkChat,
  type RenderChatOptions,
  readChatFormat,
  type Tokenize,
  wantsBegin,
} from "./chat/index.ts";
import { InferenceError } from "./errors.ts";
import { readGguf } from "./gguf/index.ts";
import {
  type Calibrated,
  calibrate,
  calibrateHint,
  chooseMap,
  isCoded,
  makingHint,
  windowHint,
} from "./maps/index.ts";
import { loadLibrary } from "./native/load-library.ts";
import { loadModel } from "./native/load-model.ts";
import type {
  CacheTypeInfo,
  ContextHandle,
  DeviceSupport,
  NativeLibrary,
  StreamHandle,
} from "./native/native-library.ts";
import { OutputPoller } from "./native/output-poller.ts";
import type { StreamConfig } from "./native/stream-config.ts";
import {
  checkIds,
  checkOpenOptions,
  checkPrompt,
  checkSampling,
  checkText,
  configuration,
  type OpenOptions,
  type SamplingOptions,
  type StreamOptions,
  samplingRules,
  streamRules,
} from "./options.ts";
import type { InferenceReport, RuntimeReport, StreamReport } from "./report.ts";
import { Session } from "./session.ts";
import { TokenStream } from "./token-stream.ts";
import { untilAborted } from "./until-aborted.ts";

export interface TokenizeOptions {
  /** Adds the model's begin token where the model wants one; false by default. */
  addSpecial?: boolean;
  /** Reads markers such as <|im_end|> as their tokens; false by default. */
  parseSpecial?: boolean;
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
  #prompter!: ChatPrompter;
  #closed: Promise<void> | undefined;
  #map: Promise<Calibrated | undefined> = Promise.resolve(undefined);

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
   * @param model a .gguf file, a bundle folder (docs/runtimes.md), or the name of a model that was pulled
   * @throws InferenceError MODEL_NOT_FOUND, MODEL_INVALID, CACHE_TYPE_UNSUPPORTED, BACKEND_UNAVAILABLE, OUT_OF_MEMORY,
   *   CONTEXT_FAILED, INVALID_ARGUMENT, MAP_NOT_FOUND, MAP_INVALID, MAP_MISMATCH, NATIVE_LIBRARY_MISSING, ABI_MISMATCH
   */
  static async open(model: string, given: OpenOptions = {}): Promise<Inference> {
    checkValue("the model", model, name);
    const asked = checkOpenOptions(given);
    const chosen = asked.runtime ?? (process.env.ELIZA_LLM_BACKEND || undefined);
    const place = await placeModel(model, chosen);
    // So that a refusal is that of the runtime that reads such files, not llama.cpp's word that it does not.
    const options = chosen === undefined && place.runtime ? { ...asked, runtime: place.runtime } : asked;
    // Says what is wrong with a file far better than the runtime does.
    const file = place.gguf === undefined ? undefined : await readGguf(place.gguf);
    const fileFormat = file && readChatFormat(file); // while the model is loaded
    fileFormat?.catch(() => undefined);
    const library = await loadLibrary(options.libraryPath);
    if (place.bundle) await requireWholeBundle(place.bundle, library.cacheTypes());
    const { cache } = options;
    const presetType = cache === undefined || cache === "f16" ? "f16" : "turbo4_tcq"; // that one codes is all it says
    const kvMap = options.kvMap ?? "auto";
    const found = await chooseMap(place.gguf, {
      kvMap: kvMap === "make" ? "auto" : kvMap,
      cacheTypeK: options.cacheTypeK ?? presetType,
      cacheTypeV: options.cacheTypeV ?? presetType,
      contextSize: options.contextSize,
      defaultContextSize: (trained) => library.defaultContextSize(trained),
    });
    const preset = cache === undefined ? undefined : choosePreset(cache, file, found !== undefined);
    const { cacheTypeK = options.cacheTypeK, cacheTypeV = options.cacheTypeV } = preset ?? {};
    const codes = [cacheTypeK, cacheTypeV].some((type) => isCoded(type ?? "f16"));
    const map = codes || kvMap !== "auto" ? found : undefined;
    const types = { ...(cacheTypeK && { cacheTypeK }), ...(cacheTypeV && { cacheTypeV }) };
    const context = library.create(place.path);
    const inference = new Inference(library, context, { ...options, ...types }, map);
    const mapless = codes && map === undefined ? place.gguf : undefined;
    const hints: Record<string, string> = { auto: calibrateHint(model), make: makingHint };
    const told = {
      preset: preset === undefined ? null : { name: preset.name, why: preset.why },
      hint: (mapless && hints[kvMap]) || null,
    };
    await untilAborted(inference.#load(place.path, fileFormat, told), options.signal, () =>
      library.destroy(context),
    );
    if (kvMap === "make" && mapless) inference.#makeMap(mapless);
    return inference;
  }

  async #load(
    path: string,
    fileFormat: Promise<ChatFormat> | undefined,
    asked: Pick<InferenceReport, "preset" | "hint">,
  ): Promise<void> {
    const { gpuLayers, onProgress, signal } = this.#options;
    const { config, extras } = this.#streamConfig({});
    if (this.#library.runtimeFor(this.#context, config, extras) === "llama.cpp") {
      await loadModel(this.#library, this.#context, gpuLayers ?? -1, { onProgress, signal });
    }
    const {
      timing: _,
      finishReason: __,
      stopSequence: ___,
      ...report
    } = await this.#withStream(async (stream) => (await this.#library.report(stream)) as StreamReport);
    const format = await this.#chatFormat(report, fileFormat);
    const { bosToken, eosToken } = format;
    const { map, exact } = report.kv ?? {};
    const isWindowMissing = map && map.exactTokens > 0 && exact?.tokens === 0;
    const hint = asked.hint ?? (isWindowMissing ? windowHint(path) : null);
    this.#report = { ...report, model: { ...report.model, bosToken, eosToken }, ...asked, hint };
    this.#prompter = new ChatPrompter(format, report.model.name || path);
  }

  /** Templates by the file; which tokens are the model's own, and what whitespace they take, by llama.cpp. */
  async #chatFormat(report: RuntimeReport, fileFormat: Promise<ChatFormat> | undefined): Promise<ChatFormat> {
    const format = report.runtime === "llama.cpp" ? await fileFormat : undefined;
    if (!format) return reportedFormat(report.model);
    const controlTokens = this.#library.controlTokens(this.#context).filter(({ text }) => text !== "");
    return { ...format, controlTokens };
  }

  /**
   * Generates from a prompt as it stands, or from messages through the model's own chat template.
   * Nothing runs before the first read.
   */
  stream(prompt: Prompt, options: StreamOptions = {}): TokenStream {
    const stream: TokenStream = new TokenStream({
      library: this.#library,
      poller: this.#poller,
      closing: this.#closing.signal,
      wantsLogprobs: () => options.logprobs !== undefined,
      opened: () => this.#report,
      check: () => {
        const checked = checkSampling<StreamOptions>("stream", options, streamRules);
        checkPrompt(prompt);
        return checked.signal;
      },
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
    });
    return stream;
  }

  /**
   * A sequence that stays between generations, with these options for all of them. It holds its place among
   * `maxStreams` until it is closed.
   */
  async session(options: SamplingOptions = {}): Promise<Session> {
    this.#checkOpen();
    const checked = checkSampling<SamplingOptions>("session", options, samplingRules);
    const opening = (async () => {
      const stream = await this.#openStream(checked);
      const session = new Session(
        {
          library: this.#library,
          poller: this.#poller,
          report: this.#report,
          closing: this.#closing.signal,
          tokenize: this.#tokenizer(stream),
          promptTokens: (messages, chat) =>
            this.#prompter.tokens(messages, checkChat(chat), this.#tokenizer(stream)),
          forget: (closed) => this.#sessions.delete(closed),
        },
        stream,
        checked,
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

  /** Which device computes what on which cache type and head size. */
  deviceSupport(): DeviceSupport[] {
    return this.#library.deviceSupport();
  }

  /** Token ids of a text. `addSpecial` adds the model's begin token, `parseSpecial` reads markers such as <|im_end|>. */
  async tokenize(given: string, options: TokenizeOptions = {}): Promise<Int32Array> {
    checkValue("the text", given, text);
    const { addSpecial = false, parseSpecial = false } = checkOptions<TokenizeOptions>("tokenize", options, {
      addSpecial: flag,
      parseSpecial: flag,
    });
    checkText(given);
    return this.#track(this.#tokenize(given, { addSpecial, parseSpecial }));
  }

  /** The text of token ids; `special` spells control tokens out. */
  async detokenize(ids: ArrayLike<number>, options: { special?: boolean } = {}): Promise<string> {
    const { special = false } = checkOptions<{ special?: boolean }>("detokenize", options, { special: flag });
    const checked = checkIds(ids);
    this.#checkOpen();
    if (this.#report.runtime === "llama.cpp") {
      return this.#track(this.#library.detokenizeModel(this.#context, checked, special));
    }
    return this.#withStream((stream) => this.#library.detokenize(stream, checked, special));
  }

  /**
   * The prompt that messages become by the model's chat template, to look at. `stream` and `generate` do not read markers
   * in what users wrote, as this text would be read. Throws CHAT_TEMPLATE_MISSING, CHAT_REFUSED, …
   */
  renderPrompt(messages: readonly ChatMessage[], options: RenderChatOptions = {}): string {
    return this.#prompter.text(messages, options);
  }

  /** Stops every stream and frees the model. Safe to call twice. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** What `kvMap: "make"` makes, once it is written; undefined where nothing was to be made. */
  madeMap(): Promise<Calibrated | undefined> {
    return this.#map;
  }

  #makeMap(path: string): void {
    const { threads, libraryPath, exactTokens, exactSinks } = this.#options;
    const hasWindow = exactTokens !== 0 || exactSinks !== 0;
    this.#map = this.#track(
      calibrate(path, {
        signal: this.#closing.signal,
        ...(!hasWindow && { exactTokens: 0, exactSinks: 0 }),
        ...(threads !== undefined && { threads }),
        ...(libraryPath !== undefined && { libraryPath }),
      }),
    );
    this.#map.catch(() => {}); // whoever asks is told
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
      const tokenize = this.#tokenizer(stream);
      const addSpecial = typeof prompt === "string" && wantsBegin(prompt, this.#report.model.bosToken);
      const ids =
        typeof prompt === "string"
          ? await tokenize(prompt, { addSpecial, parseSpecial: true })
          : await this.#prompter.tokens(prompt, checkChat(options.chat), tokenize);
      this.#library.prefill(stream, ids);
      return stream;
    } catch (error) {
      await this.#library.close(stream);
      throw error;
    }
  }

  /** llama.cpp's vocabulary needs no stream. */
  async #tokenize(
    given: string,
    options: { addSpecial: boolean; parseSpecial: boolean },
  ): Promise<Int32Array> {
    this.#checkOpen();
    if (this.#report.runtime === "llama.cpp") {
      return this.#library.tokenizeModel(this.#context, given, options);
    }
    return this.#withStream((stream) => this.#library.tokenizeAnyLength(stream, given, options));
  }

  #tokenizer(stream: StreamHandle): Tokenize {
    return async (text, options) => {
      checkText(text);
      return this.#report?.runtime === "llama.cpp"
        ? this.#library.tokenizeModel(this.#context, text, options)
        : this.#library.tokenizeAnyLength(stream, text, options);
    };
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

  #openStream(options: SamplingOptions): Promise<StreamHandle> {
    const { config, extras } = this.#streamConfig(options);
    return this.#library.open(this.#context, config, extras);
  }

  #streamConfig(options: SamplingOptions): { config: StreamConfig; extras: Record<string, unknown> } {
    const config: StreamConfig = {
      max_tokens: options.maxTokens ?? 0,
      temperature: options.temperature ?? 0,
      top_p: options.topP ?? 0,
      top_k: options.topK ?? 0,
      repeat_penalty: options.repeatPenalty ?? 0,
      slot_id: -1,
      prompt_cache_key: null,
      draft_min: 0,
      draft_max: 0,
      mtp_drafter_path: null,
      gbnf_grammar: null,
      disable_thinking: 0,
      n_gpu_layers: this.#options.gpuLayers ?? -1,
      cache_type_k: this.#options.cacheTypeK ?? null,
      cache_type_v: this.#options.cacheTypeV ?? null,
      context_size: this.#options.contextSize ?? 0,
    };
    const extras = {
      run_ahead: true,
      seed: options.seed,
      min_p: options.minP,
      threads: this.#options.threads,
      batch_size: this.#options.batchSize,
      ubatch_size: this.#options.ubatchSize,
      max_streams: this.#options.maxStreams,
      kv_map: this.#solvedMap,
      // What was opened answers all of its streams.
      runtime: this.#options.runtime ?? this.#report?.runtime,
      exact_tokens: this.#options.exactTokens,
      exact_sinks: this.#options.exactSinks,
      generation: configuration(options),
    };
    return { config, extras };
  }
}

/** The chat format as a runtime tells it, for a model whose file is not read here. */
function reportedFormat(model: InferenceReport["model"]): ChatFormat {
  return {
    template: model.chatTemplate || undefined,
    toolTemplate: undefined,
    bosToken: model.bosToken,
    eosToken: model.eosToken,
    controlTokens: model.controlTokens ?? [],
  };
}

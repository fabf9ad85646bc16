import type { ChatMessage } from "../chat/index.ts";
import { InferenceError } from "../errors.ts";
import { checkPrompt, checkSampling, type StreamOptions, streamRules } from "../options.ts";
import type { StreamChunk } from "../token-stream.ts";
import { request } from "./openai-request.ts";
import { readCompletion, type Usage } from "./openai-stream.ts";
import type {
  OutsideAdapter,
  OutsideModel,
  OutsideReport,
  OutsideStream,
  OutsideStreamReport,
} from "./outside-model.ts";

export interface OpenAICompatibleOptions {
  /** The server's address up to its version, such as http://127.0.0.1:8080/v1. */
  baseUrl: string;
  /** The model's name there. */
  model: string;
  /** Environment variable that holds the key. Defaults to OPENAI_API_KEY; without a value no key is sent. */
  keyVariable?: string;
  /** Further tries after a failure that may pass, before any text has come. Defaults to 2. */
  retries?: number;
  /** Before the first of them, doubled for each one after it; milliseconds. Defaults to 500. */
  backoffMs?: number;
}

/** Options of a stream, and their names in the protocol. */
const fields = { maxTokens: "max_tokens", temperature: "temperature", topP: "top_p", seed: "seed" } as const;

/** Any server that speaks OpenAI's completions: llama-server, vLLM, a cluster behind one address. */
export const openAICompatible: OutsideAdapter<OpenAICompatibleOptions> = {
  name: "openai-compatible",
  detect: () => ({ available: true, reason: "it needs an address and a model's name alone" }),
  open: async (options) => new OpenAICompatibleModel(options),
};

class OpenAICompatibleModel implements OutsideModel {
  readonly #options: Required<OpenAICompatibleOptions>;
  readonly #closing = new AbortController();

  constructor(options: OpenAICompatibleOptions) {
    const { baseUrl, model, keyVariable = "OPENAI_API_KEY", retries = 2, backoffMs = 500 } = options;
    if (!URL.canParse(baseUrl) || !/^https?:$/.test(new URL(baseUrl).protocol)) {
      throw new InferenceError(
        "INVALID_ARGUMENT",
        `baseUrl is "${baseUrl}"`,
        "Give an http or https address.",
      );
    }
    if (new URL(baseUrl).password !== "") {
      throw new InferenceError(
        "INVALID_ARGUMENT",
        "baseUrl holds a password",
        "Put the key into the environment.",
      );
    }
    if (typeof model !== "string" || model === "") {
      throw new InferenceError(
        "INVALID_ARGUMENT",
        "no model was named",
        "Give the model's name on the server.",
      );
    }
    this.#options = { baseUrl: baseUrl.replace(/\/+$/, ""), model, keyVariable, retries, backoffMs };
  }

  report(): OutsideReport {
    const { baseUrl, model } = this.#options;
    return { runtime: openAICompatible.name, place: baseUrl, model, capabilities: Object.keys(fields) };
  }

  stream(prompt: string | readonly ChatMessage[], given: StreamOptions = {}): OutsideStream {
    const options = checkSampling<StreamOptions>("stream", given, streamRules);
    checkPrompt(prompt);
    for (const name of Object.keys(options) as (keyof StreamOptions)[]) {
      if (name === "signal" || name in fields || options[name] === undefined) continue;
      throw new InferenceError(
        "NOT_IMPLEMENTED",
        `${openAICompatible.name} lacks the capability ${name}`,
        `It takes: ${Object.keys(fields).join(", ")}.`,
      );
    }
    const signals = [this.#closing.signal, ...(options.signal ? [options.signal] : [])];
    const signal = AbortSignal.any(signals);
    const chat = typeof prompt !== "string";
    const body: Record<string, unknown> = {
      model: this.#options.model,
      ...(chat ? { messages: prompt } : { prompt }),
      stream: true,
      stream_options: { include_usage: true },
    };
    for (const [name, field] of Object.entries(fields)) {
      const value = options[name as keyof typeof fields];
      if (value !== undefined) body[field] = value;
    }
    const url = `${this.#options.baseUrl}/${chat ? "chat/completions" : "completions"}`;
    return new OpenAIStream(this.report(), this.#options, { url, body: JSON.stringify(body), signal });
  }

  async close(): Promise<void> {
    this.#closing.abort(new InferenceError("CLOSED", "the model was closed", "Open it again."));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

class OpenAIStream implements OutsideStream {
  readonly #model: OutsideReport;
  readonly #usage: Usage = { promptTokens: 0, decodeTokens: 0, finishReason: "running" };
  readonly #chunks: AsyncGenerator<StreamChunk, undefined>;
  #retries = 0;
  #asked = 0;
  #first = 0;
  #last = 0;

  constructor(
    model: OutsideReport,
    settings: Required<OpenAICompatibleOptions>,
    call: { url: string; body: string; signal: AbortSignal },
  ) {
    this.#model = model;
    this.#chunks = this.#run(settings, call);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<StreamChunk, undefined>> {
    return this.#chunks.next();
  }

  async return(): Promise<IteratorResult<StreamChunk, undefined>> {
    if (this.#usage.finishReason === "running") this.#usage.finishReason = "cancelled";
    return await this.#chunks.return(undefined);
  }

  async text(): Promise<string> {
    let text = "";
    for await (const chunk of this) text += chunk.text;
    return text;
  }

  report(): OutsideStreamReport {
    const { promptTokens, decodeTokens, finishReason } = this.#usage;
    const decodeMs = this.#last - this.#first;
    const tokensPerSecond = decodeMs > 0 ? (Math.max(0, decodeTokens - 1) * 1000) / decodeMs : 0;
    const timeToFirstTokenMs = this.#first > 0 ? this.#first - this.#asked : 0;
    return {
      ...this.#model,
      timing: { promptTokens, decodeTokens, timeToFirstTokenMs, decodeMs, tokensPerSecond },
      finishReason,
      retries: this.#retries,
    };
  }

  async *#run(
    settings: Required<OpenAICompatibleOptions>,
    { url, body, signal }: { url: string; body: string; signal: AbortSignal },
  ): AsyncGenerator<StreamChunk, undefined> {
    // Leaving the loop ends the request too.
    const leaving = new AbortController();
    try {
      signal.throwIfAborted();
      this.#asked = performance.now();
      const key = process.env[settings.keyVariable];
      const response = await request({
        url,
        body,
        headers: { "content-type": "application/json", ...(key ? { authorization: `Bearer ${key}` } : {}) },
        signal: AbortSignal.any([signal, leaving.signal]),
        retries: settings.retries,
        backoffMs: settings.backoffMs,
        onRetry: () => {
          this.#retries += 1;
        },
      });
      for await (const chunk of readCompletion(response, url, this.#usage)) {
        this.#last = performance.now();
        if (this.#first === 0) this.#first = this.#last;
        yield chunk;
        signal.throwIfAborted();
      }
      return undefined;
    } catch (error) {
      if (signal.aborted) {
        this.#usage.finishReason = "cancelled";
        if (signal.reason instanceof InferenceError) throw signal.reason;
        throw new InferenceError("CANCELLED", "the generation was cancelled", "", { cause: signal.reason });
      }
      this.#usage.finishReason = "error";
      throw error;
    } finally {
      leaving.abort();
    }
  }
}

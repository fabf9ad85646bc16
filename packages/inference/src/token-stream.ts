import { InferenceError } from "./errors.ts";
import type { NativeLibrary, StreamHandle } from "./native/native-library.ts";
import type { OutputPoller } from "./native/output-poller.ts";
import type { InferenceReport, StreamReport } from "./report.ts";

/** Text that has become whole, and the tokens that made it. Either may be empty, not both. */
export interface StreamChunk {
  text: string;
  tokens: number[];
  /** of each of the tokens, where the option logprobs asks for them */
  logprobs?: TokenLogprob[];
}

export interface TokenLogprob {
  token: number;
  /** natural logarithm of the model's own probability, before any sampler */
  logprob: number;
  /** the likeliest tokens there, the likeliest first */
  top: { token: number; logprob: number }[];
}

/** What a token stream needs of its Inference or its Session. */
export interface StreamHost {
  library: NativeLibrary;
  poller: OutputPoller;
  /** aborted, with the error to throw, when the model is closed */
  closing: AbortSignal;
  /** what runs, as it was when the model was opened */
  opened(): InferenceReport;
  /** whether chunks carry log probabilities */
  wantsLogprobs?(): boolean;
  /** looks at what the generation was given, before anything runs, and returns the caller's signal */
  check(): AbortSignal | undefined;
  /** opens a native stream and hands it its prompt */
  start(): Promise<StreamHandle>;
  /** takes a native stream back; `whole`: its generation came to its own end */
  close(stream: StreamHandle, whole: boolean): Promise<void>;
}

/**
 * One generation. Iterate it once; leaving the loop early, or an aborted signal, stops the engine and frees the
 * sequence. Nothing runs before the first `next`.
 */
export class TokenStream implements AsyncIterableIterator<StreamChunk, undefined> {
  readonly #host: StreamHost;
  #signal: AbortSignal;
  readonly #onAbort = (): void => {
    if (this.#stream) this.#host.library.cancel(this.#stream);
  };
  #stream: StreamHandle | undefined;
  #state: "new" | "open" | "done" = "new";
  #left = false;
  #queue: Promise<unknown> = Promise.resolve();
  #report: StreamReport | undefined;

  constructor(host: StreamHost) {
    this.#host = host;
    this.#signal = host.closing;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** The next chunk, in the order of the calls. */
  next(): Promise<IteratorResult<StreamChunk, undefined>> {
    const result = this.#queue.then(() => this.#next());
    this.#queue = result.catch(() => undefined);
    return result;
  }

  /** Stops the generation and frees its sequence. */
  async return(): Promise<IteratorResult<StreamChunk, undefined>> {
    this.#left = true;
    if (this.#stream) this.#host.library.cancel(this.#stream);
    await this.#queue;
    await this.#end();
    return { done: true, value: undefined };
  }

  async throw(error: unknown): Promise<IteratorResult<StreamChunk, undefined>> {
    await this.return();
    throw error;
  }

  /** The whole answer. */
  async text(): Promise<string> {
    let text = "";
    for await (const chunk of this) text += chunk.text;
    return text;
  }

  /** What really ran, and how fast: so far, or at its end. Throws INVALID_ARGUMENT before the first `next`. */
  async report(): Promise<StreamReport> {
    if (this.#report) return this.#report;
    if (!this.#stream) {
      throw new InferenceError("INVALID_ARGUMENT", "the stream has not run", "Read from it first.");
    }
    return (await this.#host.library.report(this.#stream)) as StreamReport;
  }

  async #next(): Promise<IteratorResult<StreamChunk, undefined>> {
    if (this.#state === "done") return { done: true, value: undefined };
    try {
      if (this.#state === "new") await this.#open();
      for (;;) {
        this.#checkSignal();
        if (this.#left) {
          await this.#end();
          return { done: true, value: undefined };
        }
        const result = this.#host.library.tryNext(this.#stream!);
        if (result.state === "pending") {
          await this.#host.poller.wait(this.#stream!);
          continue;
        }
        const logprobs = this.#host.wantsLogprobs?.()
          ? this.#host.library.logprobs(this.#stream!)
          : undefined;
        if (result.state === "final") await this.#end(true);
        if (result.tokens.length > 0 || result.text !== "") {
          const { text, tokens } = result;
          return { done: false, value: { text, tokens, ...(logprobs && { logprobs }) } };
        }
        if (result.state === "final") return { done: true, value: undefined };
      }
    } catch (error) {
      await this.#end();
      // The signal's own reason, rather than what the engine made of it.
      if (error !== this.#host.closing.reason) this.#checkSignal();
      throw error;
    }
  }

  async #open(): Promise<void> {
    const { closing } = this.#host;
    if (closing.aborted) throw closing.reason;
    const own = this.#host.check();
    if (own) this.#signal = AbortSignal.any([closing, own]);
    this.#checkSignal();
    this.#state = "open";
    this.#stream = await this.#host.start();
    this.#signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  #checkSignal(): void {
    if (!this.#signal.aborted) return;
    throw new InferenceError(
      "CANCELLED",
      "the generation was cancelled",
      "Start another; the model is ready.",
      { cause: this.#signal.reason },
    );
  }

  async #end(whole = false): Promise<void> {
    this.#state = "done";
    const stream = this.#stream;
    if (!stream) return;
    this.#stream = undefined;
    this.#signal.removeEventListener("abort", this.#onAbort);
    this.#host.poller.forget(stream);
    // The rest is as it was at the opening: nothing of it has to be fetched from the engine again.
    const { preset: _, hint: __, ...opened } = this.#host.opened();
    const { used, ...generation } = this.#host.library.generationReport(stream);
    if (generation.finishReason === "running") generation.finishReason = "cancelled";
    this.#report = { ...opened, context: { ...opened.context, used }, ...generation };
    await this.#host.close(stream, whole);
  }
}

import { checkOptions, checkValue, type Rules } from "./arguments/check.ts";
import { integer, name, record, signal } from "./arguments/rule.ts";
import { type ChatMessage, type ChatOptions, type Tokenize, wantsBegin } from "./chat/index.ts";
import { InferenceError } from "./errors.ts";
import type { NativeLibrary, StreamHandle } from "./native/native-library.ts";
import type { OutputPoller } from "./native/output-poller.ts";
import { checkPrompt, checkSampling, configuration, type SamplingOptions, samplingRules } from "./options.ts";
import type { InferenceReport } from "./report.ts";
import { TokenStream } from "./token-stream.ts";

/** What a session needs of its Inference. */
export interface SessionHost {
  library: NativeLibrary;
  poller: OutputPoller;
  report: InferenceReport;
  /** aborted when the model is closed */
  closing: AbortSignal;
  tokenize: Tokenize;
  promptTokens(messages: readonly ChatMessage[], options?: ChatOptions): Promise<Int32Array>;
  /** the session is over */
  forget(session: Session): void;
}

/** What is said here holds for this generation; what is not, as the session was opened. */
export interface GenerateOptions extends SamplingOptions {
  /** Stops the generation; the iterator then throws CANCELLED with the signal's reason as cause. */
  signal?: AbortSignal;
  /** Variables of the chat template, such as enable_thinking, and tools. */
  chat?: ChatOptions;
}

const generateRules: Rules<GenerateOptions> = { ...samplingRules, signal, chat: record };

/**
 * A sequence that stays in the cache between generations, so that what the model has read is not read again, and that
 * can be saved to a file and restored, also by another process. One generation at a time.
 *
 * ```ts
 * await using session = await inference.session({ maxTokens: 200 });
 * for await (const { text } of session.generate(messages)) process.stdout.write(text);
 * await session.save("conversation.slot");
 * ```
 */
export class Session {
  readonly #host: SessionHost;
  readonly #stream: StreamHandle;
  readonly #sampling: SamplingOptions;
  #generation: TokenStream | undefined;
  /** After a generation that was cut off the engine wants to be told what to keep. */
  #isCut = false;
  #queue: Promise<unknown> = Promise.resolve();
  #closed: Promise<void> | undefined;

  constructor(host: SessionHost, stream: StreamHandle, sampling: SamplingOptions) {
    this.#host = host;
    this.#stream = stream;
    this.#sampling = sampling;
  }

  /**
   * Generates from a prompt. A string goes on after what the sequence holds. Messages are the whole conversation, by the
   * model's chat template: the tokens that it begins with and that the sequence holds are not computed again, the
   * rest of the sequence is forgotten. Nothing runs before the first read.
   *
   * The stream throws INVALID_ARGUMENT while another generation of the session runs.
   */
  generate(prompt: string | readonly ChatMessage[], options: GenerateOptions = {}): TokenStream {
    const generation: TokenStream = new TokenStream({
      library: this.#host.library,
      poller: this.#host.poller,
      closing: this.#host.closing,
      opened: () => this.#host.report,
      wantsLogprobs: () => (options.logprobs ?? this.#sampling.logprobs) !== undefined,
      check: () => {
        checkPrompt(prompt);
        const checked = checkOptions<GenerateOptions>("generate", options, generateRules);
        const { signal: own, chat: _, ...sampling } = checked;
        const { grammar: _grammar, jsonSchema: _schema, ...others } = this.#sampling;
        // one of its own takes the place of either
        const isHeld = (sampling.grammar ?? sampling.jsonSchema) !== undefined;
        const held = isHeld ? others : this.#sampling;
        checkSampling<SamplingOptions>("generate", { ...held, ...sampling }, samplingRules);
        return own;
      },
      start: async () => {
        this.#checkIdle();
        this.#generation = generation;
        try {
          await this.#alone(() => this.#prefill(prompt, options));
        } catch (error) {
          this.#generation = undefined;
          throw error;
        }
        return this.#stream;
      },
      close: async (_, whole) => {
        this.#generation = undefined;
        if (!whole) this.#isCut = true;
      },
    });
    return generation;
  }

  /** The tokens that the sequence holds. */
  tokens(): Promise<Int32Array> {
    return this.#alone(() => this.#host.library.tokens(this.#stream));
  }

  /**
   * Writes the sequence to a file, whole or not at all: the coded cache and its tokens, stamped with the model, the cache
   * types and the learned map. Returns the tokens in the cache. What a generation that was cut off had not yet computed is
   * left out.
   *
   * @throws InferenceError SLOT_WRITE_FAILED; INVALID_ARGUMENT while a generation runs
   */
  save(path: string): Promise<number> {
    return this.#alone(async () => {
      checkValue("the slot's path", path, name);
      await this.#settle();
      return this.#host.library.saveSlot(this.#stream, path);
    });
  }

  /**
   * Makes this sequence the saved one. Sampling goes on with this session's options and seed. A file that does not fit is
   * refused and leaves the sequence as it was. Returns the tokens in the cache.
   *
   * @throws InferenceError SLOT_NOT_FOUND, SLOT_INVALID, SLOT_MISMATCH, CONTEXT_FULL; INVALID_ARGUMENT while a
   *   generation runs
   */
  restore(path: string): Promise<number> {
    return this.#alone(async () => {
      checkValue("the slot's path", path, name);
      await this.#settle();
      return this.#host.library.restoreSlot(this.#stream, path);
    });
  }

  /** Forgets all but the first `count` tokens; returns how many are left, 0 where the cache cannot go back. */
  rewind(count: number): Promise<number> {
    return this.#alone(async () => {
      checkValue("count", count, integer(0));
      this.#checkIdle();
      return this.#keep(count);
    });
  }

  /** Stops the generation that runs and frees the sequence. Safe to call twice. */
  close(): Promise<void> {
    this.#closed ??= (async () => {
      await this.#generation?.return();
      await this.#queue;
      await this.#host.library.close(this.#stream);
      this.#host.forget(this);
    })();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #prefill(prompt: string | readonly ChatMessage[], options: GenerateOptions): Promise<void> {
    const { library, report } = this.#host;
    const held = await library.tokens(this.#stream);
    if (typeof prompt === "string") {
      const kept = this.#isCut ? await this.#keep(held.length) : held.length;
      const addSpecial = held.length === 0 && wantsBegin(prompt, report.model.bosToken);
      const ids = await this.#host.tokenize(prompt, { addSpecial, parseSpecial: true });
      this.#configure(options);
      library.prefill(this.#stream, Int32Array.from([...held.subarray(kept), ...ids]));
      return;
    }
    const ids = await this.#host.promptTokens(prompt, options.chat);
    // the last token is computed in any case: the answer comes from it
    const same = commonPrefix(held, ids.subarray(0, -1));
    const kept = same === held.length && !this.#isCut ? same : await this.#keep(same);
    this.#configure(options);
    library.prefill(this.#stream, ids.subarray(kept));
  }

  #configure(options: GenerateOptions): void {
    this.#host.library.configure(this.#stream, configuration(options));
  }

  async #keep(count: number): Promise<number> {
    const kept = await this.#host.library.resetKeep(this.#stream, count);
    this.#isCut = false;
    return kept;
  }

  /** One thing at a time, in the order of the calls. */
  #alone<T>(task: () => Promise<T>): Promise<T> {
    if (this.#closed) {
      return Promise.reject(new InferenceError("CLOSED", "the session was closed", "Open another."));
    }
    const result = this.#queue.then(task);
    this.#queue = result.catch(() => undefined);
    return result;
  }

  /** Idle, and with the engine's consent to go on after a generation that was cut off. */
  async #settle(): Promise<void> {
    this.#checkIdle();
    if (this.#isCut) await this.#keep((await this.#host.library.tokens(this.#stream)).length);
  }

  #checkIdle(): void {
    if (!this.#generation) return;
    throw new InferenceError(
      "INVALID_ARGUMENT",
      "a generation of this session is running",
      "Read it to its end, or leave its loop, first.",
    );
  }
}

function commonPrefix(one: Int32Array, other: Int32Array): number {
  const end = Math.min(one.length, other.length);
  let at = 0;
  while (at < end && one[at] === other[at]) at++;
  return at;
}

import koffi from "koffi";
import { InferenceError } from "../errors.ts";
import { nativeError } from "./native-error.ts";
import { checkLayout, type StreamConfig, streamConfigType } from "./stream-config.ts";

/** The ABI that this package is written against. */
export const ABI_VERSION = "14";

/** Opaque native objects; koffi's external pointers. */
export type ContextHandle = object & { readonly __context: unique symbol };
export type StreamHandle = object & { readonly __stream: unique symbol };
export type CalibrationHandle = object & { readonly __calibration: unique symbol };

export interface CacheTypeInfo {
  name: string;
  /** values coded together; a head is a run of tiles */
  tile: number;
  bytesPerTile: number;
  bitsPerValue: number;
  keysOnly: boolean;
  /** only behind a learned map */
  needsMap: boolean;
  graphRotation: boolean;
}

/** What one read of a stream gave. `pending`: nothing is there yet. */
export type NextResult = { state: "pending" } | { state: "more" | "final"; tokens: number[]; text: string };

const TOKENS_CAP = 256;
const TEXT_CAP = 64 * 1024;
const POLL_CAP = 64;
type ErrorSlot = [unknown];
type AnyFunction = ReturnType<ReturnType<typeof koffi.load>["func"]>;

/**
 * libelizainference, bound by koffi: one typed method per function of the C ABI. Methods that may wait are async and
 * use a pool thread while they do; the others return at once.
 */
export class NativeLibrary {
  readonly path: string;
  readonly #functions: Record<string, AnyFunction>;
  readonly #tokens = new Int32Array(TOKENS_CAP);
  readonly #count = new BigUint64Array(1);
  readonly #text = Buffer.alloc(TEXT_CAP);
  readonly #speculation = new Int32Array(2);

  private constructor(path: string, functions: Record<string, AnyFunction>) {
    this.path = path;
    this.#functions = functions;
  }

  /** Loads a library. Throws NATIVE_LIBRARY_MISSING or ABI_MISMATCH. */
  static load(path: string): NativeLibrary {
    let library: ReturnType<typeof koffi.load>;
    try {
      library = koffi.load(path);
    } catch (cause) {
      throw new InferenceError(
        "NATIVE_LIBRARY_MISSING",
        `${path} cannot be loaded: ${(cause as Error).message}`,
        "Build it on this machine: npm run build:native",
        { cause },
      );
    }
    const config = koffi.pointer(streamConfigType);
    const declare = (
      name: string,
      result: string,
      parameters: (string | ReturnType<typeof koffi.pointer>)[],
    ) => library.func(`eliza_inference_${name}`, result, parameters);
    let functions: Record<string, AnyFunction>;
    try {
      functions = {
        abi_version: declare("abi_version", "const char *", []),
        config_layout: declare("config_layout", "const char *", []),
        cache_types: declare("cache_types", "const char *", []),
        create: declare("create", "void *", ["const char *", "_Out_ void **"]),
        destroy: declare("destroy", "void", ["void *"]),
        free_string: declare("free_string", "void", ["void *"]),
        free_tokens: declare("free_tokens", "void", ["void *"]),
        open: declare("llm_stream_open_ex", "void *", ["void *", config, "const char *", "_Out_ void **"]),
        prefill: declare("llm_stream_prefill", "int", ["void *", "int32_t *", "size_t", "_Out_ void **"]),
        try_next: declare("llm_stream_try_next", "int", [
          ...["void *", "int32_t *", "size_t", "uint64_t *", "uint8_t *", "size_t", "int32_t *", "int32_t *"],
          "_Out_ void **",
        ]),
        cancel: declare("llm_stream_cancel", "int", ["void *"]),
        reset: declare("llm_stream_reset", "int", ["void *"]),
        reset_keep: declare("llm_stream_reset_keep", "int", ["void *", "int32_t"]),
        save_slot: declare("llm_stream_save_slot", "int", ["void *", "const char *", "_Out_ void **"]),
        restore_slot: declare("llm_stream_restore_slot", "int", ["void *", "const char *", "_Out_ void **"]),
        tokens: declare("llm_stream_tokens", "int", [
          ...["void *", "_Out_ void **", "uint64_t *", "_Out_ void **"],
        ]),
        close: declare("llm_stream_close", "void", ["void *"]),
        tokenize: declare("llm_stream_tokenize", "int", [
          ...[
            "void *",
            "const char *",
            "size_t",
            "int",
            "int",
            "_Out_ void **",
            "uint64_t *",
            "_Out_ void **",
          ],
        ]),
        detokenize: declare("llm_stream_detokenize", "int", [
          ...["void *", "int32_t *", "size_t", "int", "_Out_ void **", "_Out_ void **"],
        ]),
        report: declare("llm_stream_report", "int", ["void *", "_Out_ void **", "_Out_ void **"]),
        calibration_open: declare("calibration_open", "void *", [
          ...["void *", "const char *", "size_t", "const char *", "_Out_ void **"],
        ]),
        calibration_step: declare("calibration_step", "int", [
          ...["void *", "int32_t *", "int32_t *", "_Out_ void **"],
        ]),
        calibration_save: declare("calibration_save", "int", [
          ...["void *", "const char *", "const char *", "const char *", "_Out_ void **"],
        ]),
        calibration_close: declare("calibration_close", "void", ["void *"]),
        poll: declare("llm_poll", "int", ["void *", "uint64_t *", "size_t", "int"]),
        poll_wake: declare("llm_poll_wake", "int", ["void *"]),
      };
    } catch (cause) {
      throw new InferenceError(
        "ABI_MISMATCH",
        `${path} lacks a function: ${(cause as Error).message}`,
        "Use the library and the package of one version.",
        { cause },
      );
    }
    const found: string = functions.abi_version!();
    if (found !== ABI_VERSION) {
      throw new InferenceError(
        "ABI_MISMATCH",
        `${path} has ABI ${found}, this package needs ${ABI_VERSION}`,
        "Use the library and the package of one version.",
      );
    }
    checkLayout(JSON.parse(functions.config_layout!()));
    return new NativeLibrary(path, functions);
  }

  /** The KV cache types that the library knows; a name stands once for each of its tiles. */
  cacheTypes(): CacheTypeInfo[] {
    return JSON.parse(this.#functions.cache_types!());
  }

  create(bundle: string): ContextHandle {
    const error: ErrorSlot = [null];
    const context = this.#functions.create!(bundle, error);
    if (context === null) throw this.#takeError(error, -1);
    return context;
  }

  /** Frees the loaded models; waits for the engine threads to end. */
  async destroy(context: ContextHandle): Promise<void> {
    await this.#async("destroy", context);
  }

  /** Opens a stream; the first one loads the model, which can take seconds. */
  async open(
    context: ContextHandle,
    config: StreamConfig,
    options: Record<string, unknown>,
  ): Promise<StreamHandle> {
    const error: ErrorSlot = [null];
    const stream = await this.#async("open", context, config, JSON.stringify(options), error);
    if (stream === null) throw this.#takeError(error, -1);
    return stream as StreamHandle;
  }

  prefill(stream: StreamHandle, ids: Int32Array): void {
    const error: ErrorSlot = [null];
    const status: number = this.#functions.prefill!(stream, ids, ids.length, error);
    if (status < 0) throw this.#takeError(error, status);
  }

  /** What is ready, without waiting. */
  tryNext(stream: StreamHandle): NextResult {
    const error: ErrorSlot = [null];
    const [tokens, count, text, speculation] = [this.#tokens, this.#count, this.#text, this.#speculation];
    const status: number = this.#functions.try_next!(
      ...[stream, tokens, TOKENS_CAP, count, text, TEXT_CAP, speculation, speculation.subarray(1), error],
    );
    if (status < 0) throw this.#takeError(error, status);
    if (status === 2) return { state: "pending" };
    const end = text.indexOf(0);
    return {
      state: status === 1 ? "final" : "more",
      tokens: Array.from(tokens.subarray(0, Number(count[0]))),
      text: text.toString("utf8", 0, end),
    };
  }

  cancel(stream: StreamHandle): void {
    this.#functions.cancel!(stream);
  }

  async reset(stream: StreamHandle): Promise<void> {
    await this.#async("reset", stream);
  }

  /** Keeps the first `count` tokens; returns how many are left, 0 if none could be kept. */
  async resetKeep(stream: StreamHandle, count: number): Promise<number> {
    return (await this.#async("reset_keep", stream, count)) as number;
  }

  /** Writes the stream's sequence to a file; returns the tokens in its cache. */
  saveSlot(stream: StreamHandle, path: string): Promise<number> {
    return this.#slot("save_slot", stream, path);
  }

  /** Makes the stream's sequence the one that a file holds; returns the tokens in its cache. */
  restoreSlot(stream: StreamHandle, path: string): Promise<number> {
    return this.#slot("restore_slot", stream, path);
  }

  async #slot(name: "save_slot" | "restore_slot", stream: StreamHandle, path: string): Promise<number> {
    const error: ErrorSlot = [null];
    const status = (await this.#async(name, stream, path, error)) as number;
    if (status < 0) throw this.#takeError(error, status);
    return status;
  }

  /** The sequence's tokens: those in the cache, then those that wait to go there. */
  async tokens(stream: StreamHandle): Promise<Int32Array> {
    const error: ErrorSlot = [null];
    const out: [unknown] = [null];
    const count = new BigUint64Array(1);
    const status = (await this.#async("tokens", stream, out, count, error)) as number;
    if (status < 0) throw this.#takeError(error, status);
    return this.#takeTokens(out[0], Number(count[0]));
  }

  async close(stream: StreamHandle): Promise<void> {
    await this.#async("close", stream);
  }

  tokenize(
    stream: StreamHandle,
    text: string,
    options: { addSpecial: boolean; parseSpecial: boolean },
  ): Int32Array {
    const error: ErrorSlot = [null];
    const out: [unknown] = [null];
    const bytes = Buffer.byteLength(text);
    const status: number = this.#functions.tokenize!(
      ...[
        stream,
        text,
        bytes,
        options.addSpecial ? 1 : 0,
        options.parseSpecial ? 1 : 0,
        out,
        this.#count,
        error,
      ],
    );
    if (status < 0) throw this.#takeError(error, status);
    return this.#takeTokens(out[0], Number(this.#count[0]));
  }

  detokenize(stream: StreamHandle, ids: Int32Array, special: boolean): string {
    const error: ErrorSlot = [null];
    const out: [unknown] = [null];
    const status: number = this.#functions.detokenize!(stream, ids, ids.length, special ? 1 : 0, out, error);
    if (status < 0) throw this.#takeError(error, status);
    return this.#takeString(out[0]);
  }

  /** The library's JSON about what really runs; waits for the engine between two batches. */
  async report(stream: StreamHandle): Promise<unknown> {
    const error: ErrorSlot = [null];
    const out: [unknown] = [null];
    const status = (await this.#async("report", stream, out, error)) as number;
    if (status < 0) throw this.#takeError(error, status);
    return JSON.parse(this.#takeString(out[0]));
  }

  /** Loads the context's model for a calibration over `text`. */
  async openCalibration(
    context: ContextHandle,
    text: string,
    options: { tokens?: number; window?: number; threads?: number },
  ): Promise<CalibrationHandle> {
    const error: ErrorSlot = [null];
    const bytes = Buffer.byteLength(text);
    const handle = await this.#async(
      "calibration_open",
      ...[context, text, bytes, JSON.stringify(options), error],
    );
    if (handle === null) throw this.#takeError(error, -1);
    return handle as CalibrationHandle;
  }

  /** Looks at the next few hundred tokens. */
  async stepCalibration(
    handle: CalibrationHandle,
  ): Promise<{ done: number; total: number; finished: boolean }> {
    const error: ErrorSlot = [null];
    const [done, total] = [new Int32Array(1), new Int32Array(1)];
    const status = (await this.#async("calibration_step", handle, done, total, error)) as number;
    if (status < 0) throw this.#takeError(error, status);
    return { done: done[0]!, total: total[0]!, finished: status === 1 };
  }

  async saveCalibration(
    handle: CalibrationHandle,
    path: string,
    hashes: { model: string; text: string },
  ): Promise<void> {
    const error: ErrorSlot = [null];
    const status = (await this.#async(
      "calibration_save",
      ...[handle, path, hashes.model, hashes.text, error],
    )) as number;
    if (status < 0) throw this.#takeError(error, status);
  }

  async closeCalibration(handle: CalibrationHandle): Promise<void> {
    await this.#async("calibration_close", handle);
  }

  /** Waits for output of any of the context's streams; their addresses, none when the time is over or after a wake. */
  async poll(context: ContextHandle, timeoutMs: number): Promise<bigint[]> {
    const streams = new BigUint64Array(POLL_CAP);
    const count = (await this.#async("poll", context, streams, POLL_CAP, timeoutMs)) as number;
    return Array.from(streams.subarray(0, Math.max(0, count)));
  }

  wakePoll(context: ContextHandle): void {
    this.#functions.poll_wake!(context);
  }

  /** A stream's address, as poll reports it. */
  address(stream: StreamHandle): bigint {
    return koffi.address(stream);
  }

  #async(name: string, ...parameters: unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#functions[name]!.async(...parameters, (error: unknown, result: unknown) => {
        if (error) reject(error);
        else resolve(result);
      });
    });
  }

  #takeTokens(pointer: unknown, count: number): Int32Array {
    const ids =
      count > 0 ? Int32Array.from(koffi.decode(pointer, "int32_t", count) as number[]) : new Int32Array(0);
    this.#functions.free_tokens!(pointer);
    return ids;
  }

  #takeString(pointer: unknown): string {
    const text: string = koffi.decode(pointer, "char", -1);
    this.#functions.free_string!(pointer);
    return text;
  }

  #takeError(slot: ErrorSlot, status: number): InferenceError {
    return nativeError(slot[0] === null ? undefined : this.#takeString(slot[0]), status);
  }
}

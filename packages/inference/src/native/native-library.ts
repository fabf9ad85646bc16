import koffi from "koffi";
import type { ControlToken } from "../chat/index.ts";
import { InferenceError } from "../errors.ts";
import type { GenerationReport } from "../report.ts";
import type { TokenLogprob } from "../token-stream.ts";
import { bindFunctions, type NativeFunctions } from "./ffi-functions.ts";
import { NativeHandle } from "./ffi-parameter.ts";
import { nativeError } from "./native-error.ts";
import { endWithHost } from "./process-end.ts";
import { checkLayout, type StreamConfig } from "./stream-config.ts";

/** The ABI that this package is written against. */
export const ABI_VERSION = "14";

export type ContextHandle = NativeHandle<"context">;
export type StreamHandle = NativeHandle<"stream">;
export type CalibrationHandle = NativeHandle<"calibration">;

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

/** What a device computes on K and V of one cache type; what no row allows is refused when a stream is opened. */
export interface DeviceSupport {
  /** "cpu"; a GPU by the name of its backend */
  device: string;
  type: string;
  /** the head sizes that the type's tiles fit */
  headDim: { multipleOf: number } | { equal: number };
  sides: ("K" | "V")[];
  operations: ("SET_ROWS" | "CPY" | "K_SHIFT" | "FLASH_ATTN_EXT" | "FLASH_ATTN_EXT_EXACT")[];
}

/** What one read of a stream gave. `pending`: nothing is there yet. */
export type NextResult =
  | { state: "pending" }
  | {
      state: "more" | "final";
      tokens: number[];
      text: string;
      /** tokens that the runtime guessed ahead for these, and how many of them were right */
      drafted: number;
      accepted: number;
    };

/** Characters of a text that the event loop has time for. */
const LONG_TEXT = 16 * 1024;
const TOKENS_CAP = 256;
const TEXT_CAP = 64 * 1024;
const POLL_CAP = 64;
type Slot = [unknown];

/**
 * libelizainference, bound by koffi: one typed method per function of the C ABI. Methods that may wait are async and
 * use a pool thread while they do; the others return at once. Values of a wrong type are INVALID_ARGUMENT.
 */
export class NativeLibrary {
  readonly path: string;
  readonly #functions: NativeFunctions;
  readonly #tokens = new Int32Array(TOKENS_CAP);
  readonly #count = new BigUint64Array(1);
  readonly #text = Buffer.alloc(TEXT_CAP);
  readonly #speculation = new Int32Array(2);

  private constructor(path: string, functions: NativeFunctions) {
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
    let functions: NativeFunctions;
    try {
      functions = bindFunctions(library);
    } catch (cause) {
      throw new InferenceError(
        "ABI_MISMATCH",
        `${path} lacks a function: ${(cause as Error).message}`,
        "Use the library and the package of one version.",
        { cause },
      );
    }
    const found = functions.abi_version.call();
    if (found !== ABI_VERSION) {
      throw new InferenceError(
        "ABI_MISMATCH",
        `${path} has ABI ${found}, this package needs ${ABI_VERSION}`,
        "Use the library and the package of one version.",
      );
    }
    checkLayout(JSON.parse(functions.config_layout.call()));
    return new NativeLibrary(path, functions);
  }

  /** The KV cache types that the library knows; a name stands once for each of its tiles. */
  cacheTypes(): CacheTypeInfo[] {
    return JSON.parse(this.#functions.cache_types.call());
  }

  /** Cache type × head size × operation × device, as the library was built. */
  deviceSupport(): DeviceSupport[] {
    return JSON.parse(this.#functions.device_support.call());
  }

  /** Tokens that a stream holds where no number is given, for a model trained on so many; 0: not known. */
  defaultContextSize(trained: number): number {
    return this.#functions.default_context_size.call(trained);
  }

  create(bundle: string): ContextHandle {
    const error: Slot = [null];
    const context = this.#handle("context", this.#functions.create.call(bundle, error), error);
    endWithHost(this.path, this.#functions, context);
    return context;
  }

  /** Loads the context's model, once. Throws CANCELLED after `cancelLoad`. */
  async loadModel(context: ContextHandle, gpuLayers: number): Promise<void> {
    const error: Slot = [null];
    this.#check(await this.#functions.model_load.async(context, gpuLayers, error), error);
  }

  /** Of the load that runs, 0 to 1. */
  loadProgress(context: ContextHandle): number {
    return this.#functions.model_load_progress.call(context) / 1000;
  }

  /** The load that runs, or else the next one, is CANCELLED. */
  cancelLoad(context: ContextHandle): void {
    this.#functions.model_load_cancel.call(context);
  }

  /** What the loaded model's vocabulary keeps apart from text. Throws MODEL_NOT_LOADED. */
  controlTokens(context: ContextHandle): ControlToken[] {
    const { model } = this.modelReport(context) as { model: { controlTokens: ControlToken[] } };
    return model.controlTokens;
  }

  /** The library's JSON about the loaded model. Throws MODEL_NOT_LOADED. */
  modelReport(context: ContextHandle): unknown {
    const [error, out] = [[null] as Slot, [null] as Slot];
    this.#check(this.#functions.model_report.call(context, out, error), error);
    return JSON.parse(this.#takeString(out));
  }

  /** Token ids by the loaded model; a long text is worked off on a pool thread. Throws MODEL_NOT_LOADED. */
  async tokenizeModel(
    context: ContextHandle,
    text: string,
    options: { addSpecial: boolean; parseSpecial: boolean },
  ): Promise<Int32Array> {
    const [error, out, count] = [[null] as Slot, [null] as Slot, new BigUint64Array(1)];
    const bytes = terminated(text);
    const [addSpecial, parseSpecial] = [Number(options.addSpecial), Number(options.parseSpecial)];
    const { model_tokenize } = this.#functions;
    const values = [
      ...([context, bytes, bytes.length - 1, addSpecial, parseSpecial] as const),
      ...([out, count, error] as const),
    ] as const;
    const isLong = bytes.length > LONG_TEXT;
    this.#check(isLong ? await model_tokenize.async(...values) : model_tokenize.call(...values), error);
    return this.#takeTokens(out, count);
  }

  /** The text of token ids by the loaded model. Throws MODEL_NOT_LOADED. */
  async detokenizeModel(context: ContextHandle, ids: Int32Array, special: boolean): Promise<string> {
    const [error, out] = [[null] as Slot, [null] as Slot];
    const { model_detokenize } = this.#functions;
    const values = [context, ids, ids.length, Number(special), out, error] as const;
    const isLong = ids.length > LONG_TEXT / 4;
    this.#check(isLong ? await model_detokenize.async(...values) : model_detokenize.call(...values), error);
    return this.#takeString(out);
  }

  /** Frees the loaded models; waits for the engine threads to end. */
  async destroy(context: ContextHandle): Promise<void> {
    const done = this.#functions.destroy.async(context);
    context.release();
    await done;
  }

  /** The runtime that would answer a stream opened so; nothing is loaded. Throws BACKEND_UNAVAILABLE. */
  runtimeFor(context: ContextHandle, config: StreamConfig, options: Record<string, unknown>): string {
    const [error, out] = [[null] as Slot, [null] as Slot];
    const json = JSON.stringify(options);
    this.#check(this.#functions.stream_runtime.call(context, config, json, out, error), error);
    return JSON.parse(this.#takeString(out)).runtime;
  }

  /** Opens a stream; the first one loads the model, which can take seconds. */
  async open(
    context: ContextHandle,
    config: StreamConfig,
    options: Record<string, unknown>,
  ): Promise<StreamHandle> {
    const error: Slot = [null];
    const json = JSON.stringify(options);
    return this.#handle(
      "stream",
      await this.#functions.open.async(context, config, json, error as [unknown]),
      error,
    );
  }

  prefill(stream: StreamHandle, ids: Int32Array): void {
    const error: Slot = [null];
    this.#check(this.#functions.prefill.call(stream, ids, ids.length, error), error);
  }

  /** What is ready, without waiting. */
  tryNext(stream: StreamHandle): NextResult {
    const error: Slot = [null];
    const [tokens, count, text, speculation] = [this.#tokens, this.#count, this.#text, this.#speculation];
    const status = this.#functions.try_next.call(
      ...([stream, tokens, TOKENS_CAP, count, text, TEXT_CAP, speculation] as const),
      ...([speculation.subarray(1), error] as const),
    );
    this.#check(status, error);
    if (status === 2) return { state: "pending" };
    const end = text.indexOf(0);
    return {
      state: status === 1 ? "final" : "more",
      tokens: Array.from(tokens.subarray(0, Number(count[0]))),
      text: text.toString("utf8", 0, end),
      drafted: speculation[0]!,
      accepted: speculation[1]!,
    };
  }

  /** Of the tokens that the last tryNext gave. */
  logprobs(stream: StreamHandle): TokenLogprob[] {
    const [error, out] = [[null] as Slot, [null] as Slot];
    this.#check(this.#functions.logprobs.call(stream, out, error), error);
    const given: { token: number; logprob: number; top: [number, number][] }[] = JSON.parse(
      this.#takeString(out),
    );
    return given.map(({ token, logprob, top }) => ({
      token,
      logprob,
      top: top.map(([id, of]) => ({ token: id, logprob: of })),
    }));
  }

  cancel(stream: StreamHandle): void {
    this.#functions.cancel.call(stream);
  }

  async reset(stream: StreamHandle): Promise<void> {
    await this.#functions.reset.async(stream);
  }

  /** Keeps the first `count` tokens; returns how many are left, 0 if none could be kept. */
  resetKeep(stream: StreamHandle, count: number): Promise<number> {
    return this.#functions.reset_keep.async(stream, count);
  }

  /** Writes the stream's sequence to a file; returns the tokens in its cache. */
  async saveSlot(stream: StreamHandle, path: string): Promise<number> {
    const error: Slot = [null];
    return this.#check(await this.#functions.save_slot.async(stream, path, error), error);
  }

  /** Makes the stream's sequence the one that a file holds; returns the tokens in its cache. */
  async restoreSlot(stream: StreamHandle, path: string): Promise<number> {
    const error: Slot = [null];
    return this.#check(await this.#functions.restore_slot.async(stream, path, error), error);
  }

  /** The sequence's tokens: those in the cache, then those that wait to go there. */
  async tokens(stream: StreamHandle): Promise<Int32Array> {
    const [error, out, count] = [[null] as Slot, [null] as Slot, new BigUint64Array(1)];
    this.#check(await this.#functions.tokens.async(stream, out, count, error), error);
    return this.#takeTokens(out, count);
  }

  async close(stream: StreamHandle): Promise<void> {
    const done = this.#functions.close.async(stream);
    stream.release();
    await done;
  }

  tokenize(
    stream: StreamHandle,
    text: string,
    options: { addSpecial: boolean; parseSpecial: boolean },
  ): Int32Array {
    const { values, slots } = tokenizing(stream, text, options);
    this.#check(this.#functions.tokenize.call(...values), slots.error);
    return this.#takeTokens(slots.out, slots.count);
  }

  /** The same, with long texts on a pool thread: a megabyte takes some tenths of a second. */
  async tokenizeAnyLength(
    stream: StreamHandle,
    text: string,
    options: { addSpecial: boolean; parseSpecial: boolean },
  ): Promise<Int32Array> {
    if (text.length <= LONG_TEXT) return this.tokenize(stream, text, options);
    const { values, slots } = tokenizing(stream, text, options);
    this.#check(await this.#functions.tokenize.async(...values), slots.error);
    return this.#takeTokens(slots.out, slots.count);
  }

  detokenize(stream: StreamHandle, ids: Int32Array, special: boolean): string {
    const [error, out] = [[null] as Slot, [null] as Slot];
    const status = this.#functions.detokenize.call(stream, ids, ids.length, Number(special), out, error);
    this.#check(status, error);
    return this.#takeString(out);
  }

  /** The library's JSON about what really runs; waits for the engine between two batches. */
  async report(stream: StreamHandle): Promise<unknown> {
    const [error, out] = [[null] as Slot, [null] as Slot];
    this.#check(await this.#functions.report.async(stream, out, error), error);
    return JSON.parse(this.#takeString(out));
  }

  /** Its part about the stream's context and cache. */
  async cacheReport(stream: StreamHandle): Promise<unknown> {
    const [error, out] = [[null] as Slot, [null] as Slot];
    this.#check(await this.#functions.cache_report.async(stream, out, error), error);
    return JSON.parse(this.#takeString(out));
  }

  /** Its part about the stream's last generation; does not wait for the engine. */
  generationReport(stream: StreamHandle): GenerationReport & { used: number } {
    const [error, out] = [[null] as Slot, [null] as Slot];
    this.#check(this.#functions.generation_report.call(stream, out, error), error);
    return JSON.parse(this.#takeString(out));
  }

  /** Options of the generations from the next prompt on, by the names of the C ABI. */
  configure(stream: StreamHandle, options: Record<string, unknown>): void {
    const error: Slot = [null];
    this.#check(this.#functions.configure.call(stream, JSON.stringify(options), error), error);
  }

  /** Loads the context's model for a calibration over `text`. */
  async openCalibration(
    context: ContextHandle,
    text: string,
    options: {
      tokens?: number;
      window?: number;
      threads?: number;
      exact_tokens?: number;
      exact_sinks?: number;
    },
  ): Promise<CalibrationHandle> {
    const error: Slot = [null];
    const [bytes, json] = [terminated(text), JSON.stringify(options)];
    return this.#handle(
      "calibration",
      await this.#functions.calibration_open.async(context, bytes, bytes.length - 1, json, error),
      error,
    );
  }

  /** Looks at the next few hundred tokens. */
  async stepCalibration(
    handle: CalibrationHandle,
  ): Promise<{ done: number; total: number; finished: boolean }> {
    const error: Slot = [null];
    const [done, total] = [new Int32Array(1), new Int32Array(1)];
    const status = await this.#functions.calibration_step.async(handle, done, total, error);
    this.#check(status, error);
    return { done: done[0]!, total: total[0]!, finished: status === 1 };
  }

  async saveCalibration(
    handle: CalibrationHandle,
    path: string,
    hashes: { model: string; text: string },
  ): Promise<void> {
    const error: Slot = [null];
    const { model, text } = hashes;
    this.#check(await this.#functions.calibration_save.async(handle, path, model, text, error), error);
  }

  async closeCalibration(handle: CalibrationHandle): Promise<void> {
    const done = this.#functions.calibration_close.async(handle);
    handle.release();
    await done;
  }

  /** Waits for output of any of the context's streams; their addresses, none when the time is over or after a wake. */
  async poll(context: ContextHandle, timeoutMs: number): Promise<bigint[]> {
    const streams = new BigUint64Array(POLL_CAP);
    const count = await this.#functions.poll.async(context, streams, POLL_CAP, timeoutMs);
    return Array.from(streams.subarray(0, Math.max(0, count)));
  }

  wakePoll(context: ContextHandle): void {
    this.#functions.poll_wake.call(context);
  }

  /** A stream's address, as poll reports it. */
  address(stream: StreamHandle): bigint {
    return stream.address;
  }

  #handle<Kind extends string>(kind: Kind, address: bigint | null, error: Slot): NativeHandle<Kind> {
    if (address === null) throw this.#takeError(error, -1);
    return new NativeHandle(kind, address);
  }

  #check(status: number, error: Slot): number {
    if (status < 0) throw this.#takeError(error, status);
    return status;
  }

  #takeTokens(slot: Slot, count: BigUint64Array): Int32Array {
    const pointer = slot[0] as bigint;
    const length = Number(count[0]);
    const ids =
      length > 0 ? Int32Array.from(koffi.decode(pointer, "int32_t", length) as number[]) : new Int32Array(0);
    this.#functions.free_tokens.call(pointer);
    return ids;
  }

  #takeString(slot: Slot): string {
    const pointer = slot[0] as bigint;
    const text: string = koffi.decode(pointer, "char", -1);
    this.#functions.free_string.call(pointer);
    return text;
  }

  #takeError(slot: Slot, status: number): InferenceError {
    return nativeError(slot[0] === null ? undefined : this.#takeString(slot), status);
  }
}

/** UTF-8 with a NUL behind it: koffi passes bytes that are none as NULL. */
function terminated(text: string): Buffer {
  return Buffer.from(`${text}\0`);
}

/** The values of a call of tokenize, and the places that it fills. */
function tokenizing(
  stream: StreamHandle,
  text: string,
  { addSpecial, parseSpecial }: { addSpecial: boolean; parseSpecial: boolean },
) {
  const slots = { out: [null] as Slot, count: new BigUint64Array(1), error: [null] as Slot };
  const bytes = terminated(text);
  const values = [
    ...([stream, bytes, bytes.length - 1, Number(addSpecial), Number(parseSpecial)] as const),
    ...([slots.out, slots.count, slots.error] as const),
  ] as const;
  return { values, slots };
}

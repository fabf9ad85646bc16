import type koffi from "koffi";
import {
  allocation,
  bytes,
  config,
  handle,
  int32,
  int32s,
  out,
  type Parameter,
  passed,
  size,
  string,
  uint64s,
  writableBytes,
} from "./ffi-parameter.ts";

type Library = ReturnType<typeof koffi.load>;
type Values<P extends readonly unknown[]> = {
  [K in keyof P]: P[K] extends Parameter<infer T> ? T : never;
};

/** A result as koffi gives it; "address" is null for NULL. */
interface Results {
  int: number;
  void: undefined;
  string: string;
  address: bigint | null;
}
const resultTypes = { int: "int", void: "void", string: "const char *", address: "void *" } as const;

/** A function of the C ABI whose values are checked at every call. */
export interface NativeFunction<V extends readonly unknown[], R> {
  /** On this thread. */
  call(...values: V): R;
  /** On a pool thread. */
  async(...values: V): Promise<R>;
}

/**
 * The C ABI, function by function.
 *
 * @throws Error if the library lacks one
 */
export function bindFunctions(library: Library) {
  function bind<const P extends readonly Parameter<never>[], R extends keyof Results>(
    name: string,
    result: R,
    parameters: P,
  ): NativeFunction<Values<P>, Results[R]> {
    const symbol = `eliza_inference_${name}`;
    const types = parameters.map((each) => each.type);
    const native = library.func(symbol, resultTypes[result], types);
    return {
      call: (...values) => native(...passed(symbol, parameters, values)),
      async: async (...values) => {
        const arguments_ = passed(symbol, parameters, values);
        return await new Promise((resolve, reject) => {
          native.async(...arguments_, (error: unknown, value: Results[R]) => {
            if (error) reject(error);
            else resolve(value);
          });
        });
      },
    };
  }
  const context = handle("context");
  const stream = handle("stream");
  const calibration = handle("calibration");
  return {
    abi_version: bind("abi_version", "string", []),
    config_layout: bind("config_layout", "string", []),
    cache_types: bind("cache_types", "string", []),
    device_support: bind("device_support", "string", []),
    default_context_size: bind("default_context_size", "int", [int32]),
    create: bind("create", "address", [string, out]),
    destroy: bind("destroy", "void", [context]),
    end_with_thread: bind("end_with_thread", "int", [context]),
    shutdown: bind("shutdown", "void", []),
    error_codes: bind("error_codes", "string", []),
    model_load: bind("model_load", "int", [context, int32, out]),
    model_load_progress: bind("model_load_progress", "int", [context]),
    model_load_cancel: bind("model_load_cancel", "int", [context]),
    model_report: bind("model_report", "int", [context, out, out]),
    model_tokenize: bind("model_tokenize", "int", [
      ...([context, bytes, size, int32, int32, out, uint64s, out] as const),
    ]),
    model_detokenize: bind("model_detokenize", "int", [context, int32s, size, int32, out, out]),
    free_string: bind("free_string", "void", [allocation]),
    free_tokens: bind("free_tokens", "void", [allocation]),
    stream_runtime: bind("llm_stream_runtime", "int", [context, config, string, out, out]),
    open: bind("llm_stream_open_ex", "address", [context, config, string, out]),
    prefill: bind("llm_stream_prefill", "int", [stream, int32s, size, out]),
    try_next: bind("llm_stream_try_next", "int", [
      ...([stream, int32s, size, uint64s, writableBytes, size, int32s, int32s, out] as const),
    ]),
    cancel: bind("llm_stream_cancel", "int", [stream]),
    reset: bind("llm_stream_reset", "int", [stream]),
    reset_keep: bind("llm_stream_reset_keep", "int", [stream, int32]),
    save_slot: bind("llm_stream_save_slot", "int", [stream, string, out]),
    restore_slot: bind("llm_stream_restore_slot", "int", [stream, string, out]),
    tokens: bind("llm_stream_tokens", "int", [stream, out, uint64s, out]),
    close: bind("llm_stream_close", "void", [stream]),
    tokenize: bind("llm_stream_tokenize", "int", [stream, bytes, size, int32, int32, out, uint64s, out]),
    detokenize: bind("llm_stream_detokenize", "int", [stream, int32s, size, int32, out, out]),
    report: bind("llm_stream_report", "int", [stream, out, out]),
    cache_report: bind("llm_stream_cache_report", "int", [stream, out, out]),
    generation_report: bind("llm_stream_generation_report", "int", [stream, out, out]),
    logprobs: bind("llm_stream_logprobs", "int", [stream, out, out]),
    configure: bind("llm_stream_configure", "int", [stream, string, out]),
    calibration_open: bind("calibration_open", "address", [context, bytes, size, string, out]),
    calibration_step: bind("calibration_step", "int", [calibration, int32s, int32s, out]),
    calibration_save: bind("calibration_save", "int", [calibration, string, string, string, out]),
    calibration_close: bind("calibration_close", "void", [calibration]),
    poll: bind("llm_poll", "int", [context, uint64s, size, int32]),
    poll_wake: bind("llm_poll_wake", "int", [context]),
  };
}

export type NativeFunctions = ReturnType<typeof bindFunctions>;

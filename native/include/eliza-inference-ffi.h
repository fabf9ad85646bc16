// libelizainference: one pipe for streaming text generation, whatever runtime answers behind it.
//
// Conventions. Functions that return int give >= 0 on success and one of ELIZA_ERROR_CODES on failure; then *out_error is a
// heap string for eliza_inference_free_string: "CODE: what was wrong", a line break, what to do. Every call sets *out_error
// to NULL first, so what it held is lost, not freed; out_error itself may be NULL. The library never prints, never exits
// and never lets a C++ exception out. Additions are new symbols; no existing one changes its meaning or its layout.
//
// Threads. Every function may be called from any thread. One engine thread per loaded model computes; a stream is a
// sequence of it. Calls on one stream from several threads at once are ordered by the library, except that closing a
// stream, or destroying its context, while another thread is inside a call on it is the caller's mistake.
#ifndef ELIZA_INFERENCE_FFI_H
#define ELIZA_INFERENCE_FFI_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#ifdef ELIZA_BUILD
#define ELIZA_API __declspec(dllexport)
#else
#define ELIZA_API __declspec(dllimport)
#endif
#else
#define ELIZA_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define ELIZA_INFERENCE_ABI_VERSION "14"

// What can go wrong: X(code that an error's text begins with, number that functions return, what it means).
#define ELIZA_ERROR_CODES(X)                                                                                           \
    X(NOT_IMPLEMENTED, -1, "this library, or this runtime, cannot do it")                                              \
    X(INVALID_ARGUMENT, -2, "a value means nothing here, or the call comes at the wrong time")                         \
    X(MODEL_INVALID, -3, "a model's file or bundle is no model that this library can run")                             \
    X(NATIVE_FAULT, -4, "the runtime failed in a way that nobody foresaw")                                             \
    X(OUT_OF_MEMORY, -5, "there is less memory than it takes")                                                         \
    X(ABI_MISMATCH, -6, "library and host are of different versions")                                                  \
    X(CANCELLED, -7, "the caller stopped it")                                                                          \
    X(MODEL_NOT_FOUND, -8, "no model lies there")                                                                      \
    X(MODEL_NOT_LOADED, -9, "the context has no model yet")                                                            \
    X(BACKEND_UNAVAILABLE, -10, "the runtime or device that was asked for is not there")                               \
    X(CACHE_TYPE_UNSUPPORTED, -11, "no such type of KV cache, or not for this model")                                  \
    X(CONTEXT_FULL, -12, "the tokens do not fit the context")                                                          \
    X(CONTEXT_FAILED, -13, "the runtime made no context of that shape")                                                \
    X(NUMERIC_FAULT, -14, "the model's output is not finite")                                                          \
    X(MAP_NOT_FOUND, -15, "no learned map lies there")                                                                 \
    X(MAP_INVALID, -16, "a file is no learned map")                                                                    \
    X(MAP_MISMATCH, -17, "the learned map is of another model or context")                                             \
    X(MAP_UNSUPPORTED, -18, "this model cannot have a learned map")                                                    \
    X(TEXT_TOO_SHORT, -19, "the text has too few tokens for a calibration")                                            \
    X(SLOT_NOT_FOUND, -20, "no saved sequence lies there")                                                             \
    X(SLOT_INVALID, -21, "a file is no saved sequence, or was changed")                                                \
    X(SLOT_MISMATCH, -22, "the saved sequence is of another model, cache or library")                                  \
    X(SLOT_WRITE_FAILED, -23, "the sequence could not be written")                                                     \
    X(PERMISSION_DENIED, -24, "a file may not be written")                                                             \
    X(CLOSED, -25, "the library was shut down")

#define ELIZA_OK 0
#define ELIZA_ERR_NOT_IMPLEMENTED (-1)
#define ELIZA_ERR_INVALID_ARG (-2)
#define ELIZA_ERR_BUNDLE_INVALID (-3)
#define ELIZA_ERR_FFI_FAULT (-4)
#define ELIZA_ERR_OOM (-5)
#define ELIZA_ERR_ABI_MISMATCH (-6)
#define ELIZA_ERR_CANCELLED (-7)

typedef struct EliInferenceContext EliInferenceContext;
typedef struct EliLlmStream EliLlmStream;

// 88 bytes, 8-aligned. A zeroed config is valid: greedy, no limits but the context, f16 cache.
typedef struct eliza_llm_stream_config_t {
    int32_t max_tokens;           // tokens to generate after each prefill; <= 0: until the context is full
    float temperature;            // <= 0: greedy
    float top_p;                  // (0, 1); anything else: off
    int32_t top_k;                // <= 0: off
    float repeat_penalty;         // over the last 64 tokens; <= 0 or 1: off
    int32_t slot_id;              // -1 or 0: none. Above 0 needs the capability prompt-cache
    const char *prompt_cache_key; // NULL or "": none. Needs the capability prompt-cache
    int32_t draft_min;            // tokens guessed ahead, above 0 with the capability speculative
    int32_t draft_max;
    const char *mtp_drafter_path; // NULL or "": none. Needs the capability speculative
    const char *gbnf_grammar;     // NULL or "": none. Needs the capability grammar
    int32_t disable_thinking;     // left to the caller's chat template
    int32_t n_gpu_layers;         // -1: all, 0: CPU. One value per loaded model
    const char *cache_type_k;     // name of a cache type, NULL or "": f16
    const char *cache_type_v;
    int32_t context_size; // tokens a stream can hold; 0: eliza_inference_default_context_size of the model's own
} eliza_llm_stream_config_t;

#ifdef __cplusplus
#define ELIZA_STATIC_ASSERT static_assert
#else
#define ELIZA_STATIC_ASSERT _Static_assert
#endif
#define ELIZA_CONFIG_AT(field, offset)                                                                                 \
    ELIZA_STATIC_ASSERT(offsetof(eliza_llm_stream_config_t, field) == (offset), "config layout: " #field)
ELIZA_CONFIG_AT(max_tokens, 0);
ELIZA_CONFIG_AT(temperature, 4);
ELIZA_CONFIG_AT(top_p, 8);
ELIZA_CONFIG_AT(top_k, 12);
ELIZA_CONFIG_AT(repeat_penalty, 16);
ELIZA_CONFIG_AT(slot_id, 20);
ELIZA_CONFIG_AT(prompt_cache_key, 24);
ELIZA_CONFIG_AT(draft_min, 32);
ELIZA_CONFIG_AT(draft_max, 36);
ELIZA_CONFIG_AT(mtp_drafter_path, 40);
ELIZA_CONFIG_AT(gbnf_grammar, 48);
ELIZA_CONFIG_AT(disable_thinking, 56);
ELIZA_CONFIG_AT(n_gpu_layers, 60);
ELIZA_CONFIG_AT(cache_type_k, 64);
ELIZA_CONFIG_AT(cache_type_v, 72);
ELIZA_CONFIG_AT(context_size, 80);
ELIZA_STATIC_ASSERT(sizeof(eliza_llm_stream_config_t) == 88, "config size");

// The ABI of this library, ELIZA_INFERENCE_ABI_VERSION. Static storage.
ELIZA_API const char *eliza_inference_abi_version(void);
// JSON: {"size": 88, "offsets": {"max_tokens": 0, ...}} of the config as this library was compiled. Static storage.
ELIZA_API const char *eliza_inference_config_layout(void);
// ELIZA_ERROR_CODES as JSON: [{"code": "NOT_IMPLEMENTED", "status": -1, "meaning": "..."}, ...]. Static storage.
ELIZA_API const char *eliza_inference_error_codes(void);
// JSON array of the cache types that this library knows: name, bits a value, head sizes, use. Static storage.
ELIZA_API const char *eliza_inference_cache_types(void);
// JSON array, one row a cache type and device of what the device computes on K and V of that type: [{"device": "cpu",
// "type": "turbo4", "headDim": {"multipleOf": 32} or {"equal": 128}, "sides": ["K", "V"], "operations": ["SET_ROWS",
// "CPY", "K_SHIFT", "FLASH_ATTN_EXT", "FLASH_ATTN_EXT_EXACT"]}]. What no row allows is refused when a stream is
// opened. Static storage.
ELIZA_API const char *eliza_inference_device_support(void);
// Tokens that a stream holds where its config says 0: what the model was trained on (<= 0: not known), at most
// ELIZA_DEFAULT_CONTEXT_SIZE.
#define ELIZA_DEFAULT_CONTEXT_SIZE 4096
ELIZA_API int32_t eliza_inference_default_context_size(int32_t trained_context);

// bundle: a .gguf file, or a folder whose text/ holds the model. No model is loaded before the first stream is opened.
ELIZA_API EliInferenceContext *eliza_inference_create(const char *bundle, char **out_error);
// Frees the loaded model and the streams that are still open, whose handles mean nothing afterwards. NULL is allowed.
ELIZA_API void eliza_inference_destroy(EliInferenceContext *ctx);
// Destroys the context, with its streams, when the calling thread ends, unless it was destroyed before: for hosts whose
// threads are ended from outside, as Node's workers are. No other thread may be inside a call on it then.
ELIZA_API int eliza_inference_end_with_thread(EliInferenceContext *ctx);
// Stops every engine, load and poll of the process and returns when they have let go, within one node of the graph. What
// is called later answers CLOSED or CANCELLED. The library does it by itself at exit, before memory goes; a host that
// joins its threads before that calls it first, so that none of them waits. Once called, the process generates no more.
ELIZA_API void eliza_inference_shutdown(void);
ELIZA_API void eliza_inference_free_string(char *string);
ELIZA_API void eliza_inference_free_tokens(int32_t *tokens);

// Loads the context's model and waits for it: a call from a thread that may wait. Does nothing if it is loaded; opening a
// stream loads it as well. n_gpu_layers as in the config. MODEL_NOT_FOUND, MODEL_INVALID, CANCELLED, ...
ELIZA_API int eliza_inference_model_load(EliInferenceContext *ctx, int32_t n_gpu_layers, char **out_error);
// 0 to 1000 of the load that runs, from any thread; 1000 once the model is there.
ELIZA_API int eliza_inference_model_load_progress(EliInferenceContext *ctx);
// From any thread. The load that runs, or else the next one, answers CANCELLED; a model that is loaded stays.
ELIZA_API int eliza_inference_model_load_cancel(EliInferenceContext *ctx);
// What belongs to the loaded model, from any thread and without waiting for a stream; MODEL_NOT_LOADED before.
// JSON: abi, runtime, runtimeVersion, device, model (with controlTokens: id, text, leftStrip, rightStrip of tokens that text
// of users must not become).
ELIZA_API int eliza_inference_model_report(EliInferenceContext *ctx, char **json_out, char **out_error);
// As eliza_inference_llm_stream_tokenize and _detokenize.
ELIZA_API int eliza_inference_model_tokenize(EliInferenceContext *ctx, const char *text, size_t text_bytes,
                                             int add_special, int parse_special, int32_t **tokens_out,
                                             size_t *count_out, char **out_error);
ELIZA_API int eliza_inference_model_detokenize(EliInferenceContext *ctx, const int32_t *ids, size_t count, int special,
                                               char **text_out, char **out_error);

// Memory regions of runtimes beside the text one. NOT_IMPLEMENTED.
ELIZA_API int eliza_inference_mmap_acquire(EliInferenceContext *ctx, const char *region, char **out_error);
ELIZA_API int eliza_inference_mmap_evict(EliInferenceContext *ctx, const char *region, char **out_error);

// 1 if this library can do it, 0 if not.
ELIZA_API int eliza_inference_llm_stream_supported(void);
ELIZA_API int eliza_inference_llm_mtp_supported(void);
ELIZA_API int eliza_inference_llm_kv_quant_supported(void);

// Opens a stream, loading the model first if this is its first one. NULL and *out_error on failure.
// ELIZA_LLM_BACKEND in the environment names the runtime that must answer; without it the best one answers that is
// available, finds its kind of artifact in the bundle and can give what the config asks for, llama.cpp where none is.
ELIZA_API EliLlmStream *eliza_inference_llm_stream_open(EliInferenceContext *ctx,
                                                        const eliza_llm_stream_config_t *config, char **out_error);
// The same with what the config cannot hold, as a JSON object (NULL or "": none). An unknown key is an error.
//   seed          integer, 0 to 4294967295; default: drawn from the system
//   threads       integer >= 1; default: the processors that the process may use (affinity, CPU quota of its cgroups)
//   batch_size    tokens a decode call may hold; default 512
//   ubatch_size   tokens computed at once; default batch_size. Fewer where a node of the graph takes over 0.25 s, so that
//                 a cancellation waits less than 0.5 s
//   max_streams   streams that share one cache and are decoded together; default 1
//   min_p         0 to 1; default off
//   penalty_last_n tokens the penalties look back; default 64
//   generation    object, as options_json of _configure: how every generation of the stream is unless configured otherwise
//   run_ahead     boolean: generate as soon as the prompt is in, without waiting for the first next; default false
//   queue_size    tokens generated ahead of the reader; default 256
//   exact_tokens  of each sequence, how many of the latest tokens stay f16 beside a coded cache; at most the context;
//                 default 128, 0 turns it off; of no effect where neither K nor V is coded
//   exact_sinks   the same of the first tokens; default 4
//   kv_map        file of a solved map of the KV cache for this model (docs/learned-maps.md); default none
//   runtime       name of the runtime that must answer, as ELIZA_LLM_BACKEND; default: the best that can
ELIZA_API EliLlmStream *eliza_inference_llm_stream_open_ex(EliInferenceContext *ctx,
                                                           const eliza_llm_stream_config_t *config,
                                                           const char *options_json, char **out_error);

// The runtime that would answer a stream opened so, as JSON: {"runtime": "llama.cpp", "candidates": [{"runtime", "chosen",
// "reason"}]}. Nothing is loaded. BACKEND_UNAVAILABLE where a hard choice cannot be honoured.
ELIZA_API int eliza_inference_llm_stream_runtime(EliInferenceContext *ctx, const eliza_llm_stream_config_t *config,
                                                 const char *options_json, char **json_out, char **out_error);

// Options of the generations from the next prompt on, as a JSON object; a key that is left out is as the stream was opened
// with. INVALID_ARGUMENT while a generation runs.
//   max_tokens, temperature, top_p, top_k, repeat_penalty, min_p, penalty_last_n  as in the config and open_ex
//   presence_penalty, frequency_penalty  -100 to 100, of tokens among the last penalty_last_n; default 0
//   typical_p     0 to 1; default off
//   dry_multiplier, dry_base, dry_allowed_length, dry_last_n, dry_breakers  what goes on with a repetition becomes less
//                 likely; defaults 0 (off), 1.75, 2, 4096, ["\n", ":", "\"", "*"]
//   xtc_probability, xtc_threshold  leaves out all but the least likely above the threshold; defaults 0 (off), 0.1
//   mirostat, mirostat_tau, mirostat_eta  0 (off), 1 or 2 in place of top_k, typical_p, top_p, min_p and XTC; 0, 5, 0.1
//   logit_bias    object of token id to a number that is added to its logit, -1000 to 1000; at most 4096
//   grammar       GBNF that the text is held to; "": none. At most 256 KiB, 4,000 rules, 64 brackets inside each other
//   logprobs      -1: none (default), 0 to 20: of each token and so many of the likeliest, for _logprobs
//   seed          draws begin anew from it; without it they go on where they are
//   stop          at most 16 strings of 1 to 256 bytes; the generation ends before the first that it comes to. Its tokens
//                 stay in the sequence
ELIZA_API int eliza_inference_llm_stream_configure(EliLlmStream *stream, const char *options_json, char **out_error);
// Hands over prompt tokens and returns; they are computed in ubatches by the engine thread. Several calls before the
// first next make one prompt. After a final next, the tokens continue the same sequence.
ELIZA_API int eliza_inference_llm_stream_prefill(EliLlmStream *stream, const int32_t *ids, size_t count,
                                                 char **out_error);
// Waits for output. 0: more to come, 1: this was the last, < 0: error. Takes as many generated tokens as fit; text is
// NUL-terminated UTF-8 that never ends inside a character. A first token whose text does not fit text_cap consumes
// nothing and is INVALID_ARGUMENT.
ELIZA_API int eliza_inference_llm_stream_next(EliLlmStream *stream, int32_t *tokens_out, size_t tokens_cap,
                                              size_t *count_out, char *text_out, size_t text_cap, int32_t *drafted_out,
                                              int32_t *accepted_out, char **out_error);
// The same, but 2 at once if there is no output yet. A later eliza_inference_llm_poll then reports the stream.
ELIZA_API int eliza_inference_llm_stream_try_next(EliLlmStream *stream, int32_t *tokens_out, size_t tokens_cap,
                                                  size_t *count_out, char *text_out, size_t text_cap,
                                                  int32_t *drafted_out, int32_t *accepted_out, char **out_error);
// Of the tokens that the last call of next or try_next gave, in their order, as JSON: [{"token": id, "logprob": natural
// logarithm of the model's own probability, before any sampler, "top": [[id, logprob], ...]}], the likeliest first; []
// where the option logprobs is off.
ELIZA_API int eliza_inference_llm_stream_logprobs(EliLlmStream *stream, char **json_out, char **out_error);
// From any thread, also when idle. What is computed is left within one node of the graph. The stream answers CANCELLED until reset or reset_keep.
ELIZA_API int eliza_inference_llm_stream_cancel(EliLlmStream *stream);
// Forgets the sequence, its output and its sampling state.
ELIZA_API int eliza_inference_llm_stream_reset(EliLlmStream *stream);
// Keeps the first n_keep tokens of the sequence. Returns how many were kept, 0 if none could be; an error only for NULL.
ELIZA_API int eliza_inference_llm_stream_reset_keep(EliLlmStream *stream, int32_t n_keep);
// Writes the sequence to a file, whole or not at all: what is in the cache and what of a prompt waits. Returns the
// tokens in the cache. INVALID_ARGUMENT while a generation runs.
ELIZA_API int eliza_inference_llm_stream_save_slot(EliLlmStream *stream, const char *filename, char **out_error);
// Makes the stream's sequence the saved one; prefill goes on from there. Returns the tokens in the cache. Refuses, before
// llama.cpp sees a byte, a file that was changed or cut, and one of another model file, llama.cpp, cache type, rotation or
// learned map (SLOT_NOT_FOUND, SLOT_INVALID, SLOT_MISMATCH, CONTEXT_FULL); the sequence is then as it was.
ELIZA_API int eliza_inference_llm_stream_restore_slot(EliLlmStream *stream, const char *filename, char **out_error);
// The sequence's tokens: those in the cache, then those that wait to go there before the next prompt. For
// eliza_inference_free_tokens.
ELIZA_API int eliza_inference_llm_stream_tokens(EliLlmStream *stream, int32_t **tokens_out, size_t *count_out,
                                                char **out_error);
// Cancels, waits for the engine to let go, frees. NULL is allowed.
ELIZA_API void eliza_inference_llm_stream_close(EliLlmStream *stream);

// Tokens of a text by the open stream's own vocabulary. add_special: the model's begin token where it wants one;
// parse_special: markers such as <|im_end|> in the text become tokens. *tokens_out is for eliza_inference_free_tokens.
ELIZA_API int eliza_inference_llm_stream_tokenize(EliLlmStream *stream, const char *text, size_t text_bytes,
                                                  int add_special, int parse_special, int32_t **tokens_out,
                                                  size_t *count_out, char **out_error);
// *text_out is NUL-terminated UTF-8 for eliza_inference_free_string; special: control tokens are spelled out.
ELIZA_API int eliza_inference_llm_stream_detokenize(EliLlmStream *stream, const int32_t *ids, size_t count, int special,
                                                    char **text_out, char **out_error);
// JSON about what really runs: runtime, its capabilities, device, model, cache types per layer, bytes, timing, every
// candidate and why it was taken or not. drafted_out and accepted_out of next are summed under "speculation".
ELIZA_API int eliza_inference_llm_stream_report(EliLlmStream *stream, char **json_out, char **out_error);
// Its parts. Of the stream's context and cache: abi, context, kv, candidates.
ELIZA_API int eliza_inference_llm_stream_cache_report(EliLlmStream *stream, char **json_out, char **out_error);
// Of its last generation, without waiting for the engine: timing, stopSequence (null for none), finishReason: "none" before
// a prompt, "running", then "stop", "length" (max_tokens), "context" (it is full), "error" or "cancelled".
ELIZA_API int eliza_inference_llm_stream_generation_report(EliLlmStream *stream, char **json_out, char **out_error);

// Waits until one of the context's streams has output its reader has not been told of, at most timeout_ms (< 0: no
// limit). Writes such streams and returns their number; 0 after the time, or when eliza_inference_llm_poll_wake was called.
ELIZA_API int eliza_inference_llm_poll(EliInferenceContext *ctx, EliLlmStream **streams_out, size_t cap,
                                       int timeout_ms);
ELIZA_API int eliza_inference_llm_poll_wake(EliInferenceContext *ctx);

// Statistics of a model over a text, from which maps of its KV cache are solved (docs/learned-maps.md).
typedef struct EliCalibration EliCalibration;

// Loads the context's model, on the CPU, beside any stream's. Options as a JSON object (NULL or "": none):
//   tokens   tokens to look at, rounded down to whole windows; default 24576
//   window   tokens of the text seen at once, each window a text of its own; default 2048
//   threads  default: the processor's cores
// NULL and *out_error on failure: MODEL_INVALID, MAP_UNSUPPORTED, TEXT_TOO_SHORT, INVALID_ARGUMENT.
ELIZA_API EliCalibration *eliza_inference_calibration_open(EliInferenceContext *ctx, const char *text,
                                                           size_t text_bytes, const char *options_json,
                                                           char **out_error);
// Looks at the next few hundred tokens. 0: more to come, 1: all are done, < 0: error.
ELIZA_API int eliza_inference_calibration_step(EliCalibration *calibration, int32_t *done_out, int32_t *total_out,
                                               char **out_error);
// Writes the statistics as a GGUF file, whole or not at all, with the given hashes of the weights and of the text.
ELIZA_API int eliza_inference_calibration_save(EliCalibration *calibration, const char *filename,
                                               const char *model_sha256, const char *text_sha256, char **out_error);
// NULL is allowed.
ELIZA_API void eliza_inference_calibration_close(EliCalibration *calibration);

#ifdef __cplusplus
}
#endif

#endif

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace eliza::litert {

// Called on a thread of the library; the chunk lives as long as the call.
using StreamCallback = void (*)(void *user, const void *chunk);

// The part of the C interface of LiteRT-LM 0.18.1 that a text session needs: X(result, name without litert_lm_, arguments).
// Handles are opaque. Creates answer NULL and actions other than 0 on failure, whose text get_last_error_message then has,
// on the thread that failed.
#define LITERT_LM_FUNCTIONS(X)                                                                                         \
    X(void, set_min_log_level, (int))                                                                                  \
    X(const char *, get_last_error_message, (void))                                                                    \
    X(int, get_last_error_code, (void))                                                                                \
    X(void *, engine_settings_create, (const char *, const char *, const char *, const char *))                        \
    X(void, engine_settings_delete, (void *))                                                                          \
    X(void, engine_settings_set_num_threads, (void *, int))                                                            \
    X(void, engine_settings_set_cache_dir, (void *, const char *))                                                     \
    X(void, engine_settings_set_litert_dispatch_lib_dir, (void *, const char *))                                       \
    X(void *, engine_create, (const void *))                                                                           \
    X(void, engine_delete, (void *))                                                                                   \
    X(void *, sampler_params_create, (int))                                                                            \
    X(void, sampler_params_delete, (void *))                                                                           \
    X(void, sampler_params_set_top_k, (void *, int32_t))                                                               \
    X(void, sampler_params_set_top_p, (void *, float))                                                                 \
    X(void, sampler_params_set_temperature, (void *, float))                                                           \
    X(void, sampler_params_set_seed, (void *, int32_t))                                                                \
    X(void *, session_config_create, (void))                                                                           \
    X(void, session_config_delete, (void *))                                                                           \
    X(void, session_config_set_apply_prompt_template, (void *, bool))                                                  \
    X(void, session_config_set_sampler_params, (void *, const void *))                                                 \
    X(void *, engine_create_session, (void *, void *))                                                                 \
    X(void, session_delete, (void *))                                                                                  \
    X(void, session_cancel_process, (void *))                                                                          \
    X(int, session_rewind_to_step, (void *, int))                                                                      \
    X(void *, input_data_create, (int, const void *, size_t))                                                          \
    X(void, input_data_delete, (void *))                                                                               \
    X(int, session_run_prefill, (void *, const void *const *, size_t))                                                 \
    X(int, session_run_decode_async, (void *, StreamCallback, void *))                                                 \
    X(const char *, stream_chunk_get_text, (const void *))                                                             \
    X(bool, stream_chunk_is_final, (const void *))                                                                     \
    X(const char *, stream_chunk_get_error, (const void *))                                                            \
    X(void *, engine_tokenize, (void *, const char *))                                                                 \
    X(void, tokenize_result_delete, (void *))                                                                          \
    X(const int *, tokenize_result_get_tokens, (const void *))                                                         \
    X(size_t, tokenize_result_get_num_tokens, (const void *))                                                          \
    X(void *, engine_get_start_token, (void *))                                                                        \
    X(void *, engine_get_stop_tokens, (void *))                                                                        \
    X(void, token_union_delete, (void *))                                                                              \
    X(int, token_union_get_type, (const void *))                                                                       \
    X(const char *, token_union_get_string, (const void *))                                                            \
    X(int, token_union_get_ids, (const void *, const int **, size_t *))                                                \
    X(void, token_unions_delete, (void *))                                                                             \
    X(size_t, token_unions_get_num_tokens, (const void *))                                                             \
    X(void *, token_unions_get_token_at, (const void *, size_t))                                                       \
    X(void *, loaded_file_create, (const char *))                                                                      \
    X(void, loaded_file_delete, (void *))                                                                              \
    X(uint32_t, loaded_file_max_context_tokens, (const void *))                                                        \
    X(int32_t, loaded_file_modality_supported_backends, (const void *, int, int *, int32_t))

struct LitertApi {
#define FUNCTION(result, name, arguments) result(*name) arguments = nullptr;
    LITERT_LM_FUNCTIONS(FUNCTION)
#undef FUNCTION
    std::string path;
};

// The version that this binding is written for; no other is called.
constexpr const char *LITERT_LM_VERSION = "0.18.1";

// The library, or why there is none: ELIZA_LITERT_LM_LIBRARY names its file, else it is where `eliza-inference runtimes add
// litert-lm` puts it. Once loaded it stays. Cheap after the first time; a library that is absent is looked for anew.
struct LoadedApi {
    const LitertApi *api = nullptr;
    std::string reason;
};
LoadedApi load_litert();

// "INTERNAL: …" of the call that just failed on this thread, as text that is safe to print; the library's own messages
// may be empty or no UTF-8.
std::string last_error(const LitertApi &api);

} // namespace eliza::litert

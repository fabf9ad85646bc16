// The seam between the C ABI and the runtimes that can answer it: one session interface, one factory per runtime.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "eliza-inference-ffi.h"

namespace eliza {

class OutputQueue;

// What open_ex says beyond the 88 bytes, already checked.
struct StreamOptions {
    uint32_t seed = 0;
    bool seed_given = false;
    int32_t threads = 0; // 0: the processor's cores
    int32_t batch_size = 512;
    int32_t ubatch_size = 0; // 0: batch_size
    int32_t max_streams = 1;
    float min_p = 0.0f;
    int32_t penalty_last_n = 64;
    bool run_ahead = false;
    int32_t queue_size = 256;
    std::string kv_map; // a solved map's file; empty: none
};

// One runtime that was looked at when a stream was opened, and why it was taken or not.
struct Candidate {
    std::string runtime;
    bool chosen = false;
    std::string reason;
};

} // namespace eliza

// One generation. Its methods are the ABI's entry points without the handle: >= 0 on success, ELIZA_ERR_* on failure
// with a heap string in *out_error.
class LlmBackendSession {
  public:
    virtual ~LlmBackendSession() = default;

    virtual int prefill(const int32_t *ids, size_t count, char **out_error) = 0;
    // Takes from output() unless a runtime has its own way.
    virtual int next(int32_t *tokens_out, size_t tokens_cap, size_t *count_out, char *text_out, size_t text_cap,
                     int32_t *drafted_out, int32_t *accepted_out, char **out_error);
    virtual int cancel() = 0;
    virtual int reset() = 0;
    // A full reset and 0 where no prefix can be kept; never an error.
    virtual int reset_keep(int32_t n_keep) = 0;
    virtual int save_slot(const char *filename, char **out_error);
    virtual int restore_slot(const char *filename, char **out_error);
    virtual int tokens(std::vector<int32_t> *ids, char **out_error);

    virtual int tokenize(const char *text, size_t bytes, bool add_special, bool parse_special,
                         std::vector<int32_t> *ids, char **out_error);
    virtual int detokenize(const int32_t *ids, size_t count, bool special, std::string *text, char **out_error);
    // A JSON object without the candidates, which the ABI adds.
    virtual int report(std::string *json, char **out_error);

    // The queue that this session's engine fills; poll and next read it.
    virtual eliza::OutputQueue &output() = 0;
};

class LlmBackendFactory {
  public:
    virtual ~LlmBackendFactory() = default;

    virtual const char *name() const = 0;
    // Compiled in, and its dependencies are present on this host. Cheap.
    virtual bool available() const = 0;
    // Its kind of artifact lies in the bundle. Cheap: a look at names, nothing is loaded.
    virtual bool can_serve(const char *bundle) const = 0;
    // Higher wins; llama.cpp, the fallback, counts as 0.
    virtual int preference_rank() const { return 0; }
    virtual LlmBackendSession *open(EliInferenceContext *ctx, const eliza_llm_stream_config_t *config,
                                    const eliza::StreamOptions &options, char **out_error) = 0;
};

// Idempotent by name: the first factory of a name stays.
void llm_backend_register(LlmBackendFactory *factory);
void llm_backend_register_builtins();

// The runtime for a bundle. ELIZA_LLM_BACKEND is a hard choice; without it the highest rank that is available and can
// serve wins, equal ranks by order of registration.
//   factory                      open a session with it
//   NULL and *out_error == NULL  llama.cpp
//   NULL and *out_error          the choice cannot be honoured; nothing may be opened
LlmBackendFactory *llm_backend_select(const char *bundle, const eliza_llm_stream_config_t *config,
                                      std::vector<eliza::Candidate> *candidates, char **out_error);

// The bundle of a context, NULL for NULL.
const char *llm_backend_context_bundle_dir(const EliInferenceContext *ctx);

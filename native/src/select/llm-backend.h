// The seam between the C ABI and the runtimes that can answer it: one session interface, one factory per runtime.
// A runtime includes this folder, error/ and streaming/, never ffi/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "eliza-inference-ffi.h"
#include "select/capabilities.h"
#include "select/generation-options.h"

namespace eliza {

class OutputQueue;
class PollHub;
struct NextOutput;
struct StreamOptions;

// How a stream generates, by its config and what open_ex adds to it.
GenerationOptions generation_options(const eliza_llm_stream_config_t &config, const StreamOptions &options);

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
    GenerationOptions generation; // of the config, min_p, penalty_last_n, seed and the option `generation`
    std::string kv_map;           // a solved map's file; empty: none
    std::string runtime;          // a hard choice by name; empty: none
    // Of each sequence, how many of the latest and of the first tokens stay f16 beside a coded cache; -1: the default.
    int32_t exact_tokens = -1;
    int32_t exact_sinks = -1;
};

// One runtime that was looked at when a stream was opened, and why it was taken or not.
struct Candidate {
    std::string runtime;
    bool chosen = false;
    std::string reason;
};

// Yes, or no and why.
struct Verdict {
    bool yes = true;
    std::string reason;

    static Verdict no(std::string why) { return {false, std::move(why)}; }
};

} // namespace eliza

// What a runtime keeps for a context between its streams, such as loaded models.
class LlmBackendState {
  public:
    virtual ~LlmBackendState() = default;
};

// One generation. Its methods are the ABI's entry points without the handle: >= 0 on success, ELIZA_ERR_* on failure
// with a heap string in *out_error, or an exception. What needs a capability is called only where the session has it.
class LlmBackendSession {
  public:
    virtual ~LlmBackendSession() = default;

    virtual eliza::Capabilities capabilities() const = 0;

    virtual int prefill(const int32_t *ids, size_t count, char **out_error) = 0;
    // 0: more to come, 1: this was the last; without `wait` 2 at once where nothing is there. Takes from output()
    // unless a runtime has its own way.
    virtual int next(bool wait, eliza::NextOutput *output, char **out_error);
    virtual int cancel() = 0;
    virtual int reset() = 0;
    // A full reset and 0 where no prefix can be kept; never an error.
    virtual int reset_keep(int32_t n_keep) = 0;
    // For what is generated from here on; INVALID_ARGUMENT while a generation runs.
    virtual int configure(const eliza::GenerationOptions &options, char **out_error);
    virtual int save_slot(const char *filename, char **out_error);
    virtual int restore_slot(const char *filename, char **out_error);
    virtual int tokens(std::vector<int32_t> *ids, char **out_error);

    virtual int tokenize(const char *text, size_t bytes, bool add_special, bool parse_special,
                         std::vector<int32_t> *ids, char **out_error);
    virtual int detokenize(const int32_t *ids, size_t count, bool special, std::string *text, char **out_error);
    // A JSON object; the ABI adds the candidates, the capabilities and its own version.
    virtual int report(std::string *json, char **out_error) = 0;
    // Its parts that are of the stream's cache, and of its last generation; the latter never waits.
    virtual int cache_report(std::string *json, char **out_error);
    virtual int generation_report(std::string *json, char **out_error);

    // The queue that this session's engine fills; poll and next read it.
    virtual eliza::OutputQueue &output() = 0;
};

class LlmBackendFactory {
  public:
    virtual ~LlmBackendFactory() = default;

    virtual const char *name() const = 0;
    // Its dependencies are present on this host. Cheap.
    virtual eliza::Verdict available() const = 0;
    // Its kind of artifact lies in the bundle. Cheap: a look at names, nothing is loaded.
    virtual eliza::Verdict can_serve(const char *bundle) const = 0;
    // What its sessions can do at best.
    virtual eliza::Capabilities capabilities() const = 0;
    // It can give what the config and the options ask for: by its capabilities, unless a runtime knows better. Cheap.
    virtual eliza::Verdict supports(const eliza_llm_stream_config_t &config, const eliza::StreamOptions &options) const;
    // Higher wins; llama.cpp, the fallback, has 0.
    virtual int preference_rank() const { return 0; }
    // NULL with *out_error, or an exception, on failure.
    virtual LlmBackendSession *open(EliInferenceContext *ctx, const eliza_llm_stream_config_t *config,
                                    const eliza::StreamOptions &options, char **out_error) = 0;
};

// Idempotent by name: the first factory of a name stays.
void llm_backend_register(LlmBackendFactory *factory);
// Every runtime that is compiled in. llama.cpp comes last, so that equal ranks go to the others.
void llm_backend_register_builtins();
// llama.cpp, the fallback.
LlmBackendFactory *llm_backend_default();

// The runtime for a bundle. ELIZA_LLM_BACKEND and options.runtime are hard choices; without one the highest rank that
// is available, can serve and supports the config wins, equal ranks by order of registration.
//   factory                      open a session with it
//   NULL and *out_error == NULL  llama.cpp
//   NULL and *out_error          the choice cannot be honoured; nothing may be opened
// `candidates` gets every runtime that was looked at, with its reason.
LlmBackendFactory *llm_backend_select(const char *bundle, const eliza_llm_stream_config_t *config,
                                      const eliza::StreamOptions &options, std::vector<eliza::Candidate> *candidates,
                                      char **out_error);

// What a context gives to the runtimes. Its bundle, NULL for NULL:
const char *llm_backend_context_bundle_dir(const EliInferenceContext *ctx);
// Where its streams say that they have output:
eliza::PollHub &llm_backend_context_poll_hub(EliInferenceContext *ctx);
// A place for a runtime's own state, made on first use and freed with the context:
LlmBackendState &llm_backend_context_state(EliInferenceContext *ctx, const LlmBackendFactory *runtime,
                                           const std::function<std::unique_ptr<LlmBackendState>()> &make);

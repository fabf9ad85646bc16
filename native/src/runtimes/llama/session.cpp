#include "runtimes/llama/session.h"

#include <algorithm>

#include "error/failure.h"
#include "llama-model.h"
#include "runtimes/llama/cache-types.h"
#include "runtimes/llama/engine-registry.h"
#include "runtimes/llama/processors.h"
#include "runtimes/llama/report.h"
#include "runtimes/llama/slot.h"
#include "runtimes/llama/vocabulary.h"
#include "select/default-context.h"
#include "streaming/prompt-rules.h"

namespace eliza {

namespace {

class LlamaSession final : public LlmBackendSession {
  public:
    LlamaSession(PollHub &hub, Engine &engine, const StreamOptions &options, const ContextShape &shape,
                 const std::string &threads_reason)
        : engine_(engine), run_ahead_(options.run_ahead), sequence_(hub, static_cast<size_t>(options.queue_size)) {
        sequence_.max_tokens = options.generation.max_tokens;
        sequence_.stops.set(options.generation.stop);
        sequence_.threads_reason = threads_reason;
        sequence_.sampler = std::make_unique<Sampler>(options.generation, vocab());
        sequence_.started = run_ahead_;
        sequence_.queue.set_demand([this] {
            sequence_.started = true;
            engine_.wake();
        });
        engine_.attach(sequence_, shape);
    }

    ~LlamaSession() override {
        sequence_.queue.cancel();
        engine_.detach(sequence_);
    }

    Capabilities capabilities() const override { return llama_capabilities(); }

    int prefill(const int32_t *ids, size_t count, char **) override {
        PromptState state;
        state.vocabulary = llama_vocab_n_tokens(vocab());
        state.cancelled = sequence_.cancelled;
        state.generating = sequence_.generating;
        state.asked_for = sequence_.queue.expecting() && sequence_.started;
        state.context_size = sequence_.context_size;
        state.planned = sequence_.planned;
        check_prompt(ids, count, state);
        {
            const std::lock_guard lock(sequence_.timing_mutex);
            const bool over = sequence_.timing.first_token_us != 0 || sequence_.timing.finish_reason[0] != '\0';
            if (over) sequence_.timing = Timing{};
            if (sequence_.timing.asked_us == 0) sequence_.timing.asked_us = llama_time_us();
        }
        if (sequence_.queue.expect()) sequence_.started = run_ahead_;
        sequence_.planned += static_cast<int32_t>(count);
        engine_.prefill(sequence_, {ids, ids + count});
        return ELIZA_OK;
    }

    int cancel() override {
        sequence_.cancelled = true;
        sequence_.queue.cancel();
        return ELIZA_OK;
    }

    int configure(const GenerationOptions &options, char **) override {
        if (!sequence_.cancelled) check_idle("configured");
        Sampler::check(options, vocab());
        engine_.configure(sequence_, options);
        return ELIZA_OK;
    }

    int save_slot(const char *filename, char **) override {
        check_slot_name(filename);
        check_idle("saved");
        return eliza::save_slot(engine_, sequence_, filename);
    }

    int restore_slot(const char *filename, char **) override {
        check_slot_name(filename);
        check_idle("restored");
        sequence_.started = false;
        return eliza::restore_slot(engine_, sequence_, filename);
    }

    int tokens(std::vector<int32_t> *ids, char **) override {
        *ids = engine_.tokens(sequence_);
        return ELIZA_OK;
    }

    int reset() override {
        keep(0);
        return ELIZA_OK;
    }

    int reset_keep(int32_t n_keep) override { return keep(n_keep); }

    int tokenize(const char *text, size_t bytes, bool add_special, bool parse_special, std::vector<int32_t> *ids,
                 char **) override {
        *ids = eliza::tokenize(vocab(), text, bytes, add_special, parse_special);
        return ELIZA_OK;
    }

    int detokenize(const int32_t *ids, size_t count, bool special, std::string *text, char **) override {
        *text = eliza::detokenize(vocab(), ids, count, special);
        return ELIZA_OK;
    }

    int report(std::string *json, char **) override {
        *json = llama_report(engine_, sequence_);
        return ELIZA_OK;
    }

    int cache_report(std::string *json, char **) override {
        *json = llama_cache_report(engine_, sequence_);
        return ELIZA_OK;
    }

    int generation_report(std::string *json, char **) override {
        *json = llama_generation_report(sequence_);
        return ELIZA_OK;
    }

    OutputQueue &output() override { return sequence_.queue; }

  private:
    const llama_vocab *vocab() const { return llama_model_get_vocab(engine_.model()); }

    static void check_slot_name(const char *filename) {
        if (filename != nullptr && filename[0] != '\0') return;
        throw Failure(Code::INVALID_ARGUMENT, "the slot's file name is empty", "name a file");
    }

    void check_not_cancelled() const {
        if (!sequence_.cancelled) return;
        throw Failure(Code::CANCELLED, "the stream was cancelled", "reset it before it is used again");
    }

    // Nothing is computed or read: what the sequence holds is what the caller knows of.
    void check_idle(const std::string &what) const {
        check_not_cancelled();
        if (!sequence_.generating && !(sequence_.queue.expecting() && sequence_.started)) return;
        throw Failure(Code::INVALID_ARGUMENT, "a generation is running, the stream cannot be " + what,
                      "take its output to the end first, or reset the stream");
    }

    int32_t keep(int32_t n_keep) {
        sequence_.cancelled = true; // the engine stops at the next ubatch
        const int32_t kept = engine_.keep(sequence_, n_keep);
        sequence_.queue.restart();
        sequence_.started = run_ahead_;
        sequence_.cancelled = false;
        return kept;
    }

    Engine &engine_;
    const bool run_ahead_;
    Sequence sequence_;
};

// Where neither side is coded, every token is exact as it is.
eliza_exact_window exact_window(const llama_model &model, const ContextShape &shape, const StreamOptions &options) {
    const bool coded = ggml_is_quantized(shape.type_k) || ggml_is_quantized(shape.type_v);
    if (!coded || !eliza_exact_serves(model)) return {};
    const auto at_most_context = [&](int32_t asked, int32_t otherwise) {
        return static_cast<uint32_t>(std::min(asked < 0 ? otherwise : asked, shape.context_size));
    };
    return {at_most_context(options.exact_tokens, DEFAULT_EXACT_TOKENS),
            at_most_context(options.exact_sinks, DEFAULT_EXACT_SINKS)};
}

} // namespace

Capabilities llama_capabilities() {
    return {Capability::TOKENIZE, Capability::DETOKENIZE,   Capability::TOKENS,   Capability::RESET_KEEP,
            Capability::SLOTS,    Capability::SHARED_CACHE, Capability::KV_TYPES, Capability::KV_MAP,
            Capability::GRAMMAR,  Capability::SAMPLERS,     Capability::LOGPROBS};
}

std::unique_ptr<LlmBackendSession> open_llama_session(const LlamaPlace &place, const eliza_llm_stream_config_t &config,
                                                      const StreamOptions &options) {
    // Names first: a misspelt type is told before a model is loaded.
    const ggml_type type_k = cache_type_by_name(config.cache_type_k, 'K');
    const ggml_type type_v = cache_type_by_name(config.cache_type_v, 'V');
    Engine &engine = place.engines.engine(find_gguf(place.bundle), config.n_gpu_layers);
    const llama_model &model = *engine.model();

    ContextShape shape;
    shape.context_size =
        config.context_size > 0 ? config.context_size : default_context_size(llama_model_n_ctx_train(&model));
    shape.type_k = type_k;
    shape.type_v = type_v;
    shape.exact = exact_window(model, shape, options);
    const bool exact = shape.exact.recent > 0 || shape.exact.sinks > 0;
    shape.type_k = cache_type_for_heads(type_k, {model, 'K', !options.kv_map.empty(), exact});
    shape.type_v = cache_type_for_heads(type_v, {model, 'V', false, exact});
    const Processors usable = usable_processors();
    shape.threads = options.threads > 0 ? options.threads : usable.count;
    shape.max_streams = options.max_streams;
    shape.kv_map = options.kv_map;
    shape.batch_size = std::min(options.batch_size, shape.context_size);
    shape.ubatch_size = std::min(options.ubatch_size, shape.batch_size);

    const std::string reason = options.threads > 0 ? "asked for; usable: " + usable.reason : usable.reason;
    return std::make_unique<LlamaSession>(place.hub, engine, options, shape, reason);
}

} // namespace eliza

#include "runtimes/llama/session.h"

#include <random>
#include <thread>

#include "ffi/context.h"
#include "error/failure.h"
#include "llama-model.h"
#include "runtimes/llama/cache-types.h"
#include "runtimes/llama/engine-registry.h"
#include "runtimes/llama/report.h"
#include "runtimes/llama/slot.h"
#include "runtimes/llama/vocabulary.h"

namespace eliza {

namespace {

constexpr int32_t DEFAULT_CONTEXT = 4096;

class LlamaSession final : public LlmBackendSession {
  public:
    LlamaSession(EliInferenceContext &ctx, Engine &engine, const eliza_llm_stream_config_t &config,
                 const StreamOptions &options, const ContextShape &shape)
        : engine_(engine), run_ahead_(options.run_ahead), sequence_(ctx.hub, static_cast<size_t>(options.queue_size)) {
        sequence_.max_tokens = config.max_tokens;
        sequence_.sampler = make_sampler(config, options, llama_vocab_n_tokens(vocab()));
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

    int prefill(const int32_t *ids, size_t count, char **) override {
        const auto invalid = [](const std::string &message, const std::string &hint) {
            throw Failure(Code::INVALID_ARGUMENT, message, hint);
        };
        if (ids == nullptr || count == 0) invalid("the prompt is empty", "prefill at least one token");
        check_tokens(vocab(), ids, count);
        check_not_cancelled();
        if (sequence_.generating) {
            invalid("a generation is running", "take its output to the end, or reset the stream");
        }
        if (sequence_.queue.expecting() && sequence_.started) {
            invalid("the prompt is complete and its answer was asked for",
                    "hand a prompt over before the first next, and in one call with run_ahead");
        }
        const auto room = static_cast<size_t>(sequence_.context_size - sequence_.planned);
        // One cell stays for the first generated token.
        if (count + 1 > room) {
            throw Failure(Code::CONTEXT_FULL,
                          std::to_string(count) + " prompt tokens do not fit the " + std::to_string(room) + " of " +
                              std::to_string(sequence_.context_size) + " that are left",
                          "shorten the prompt, or open the stream with a larger context");
        }
        {
            const std::lock_guard lock(sequence_.timing_mutex);
            if (sequence_.timing.first_token_us != 0) sequence_.timing = Timing{};
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

} // namespace

LlmBackendSession *open_llama_session(EliInferenceContext &ctx, const eliza_llm_stream_config_t &config,
                                      const StreamOptions &options) {
    // Names first: a misspelt type is told before a model is loaded.
    const ggml_type type_k = cache_type_by_name(config.cache_type_k, 'K');
    const ggml_type type_v = cache_type_by_name(config.cache_type_v, 'V');
    Engine &engine = ctx.engines->engine(find_gguf(ctx.bundle), config.n_gpu_layers);
    const llama_hparams &hparams = engine.model()->hparams;

    ContextShape shape;
    shape.type_k = cache_type_for_heads(type_k, hparams, 'K', !options.kv_map.empty());
    shape.type_v = cache_type_for_heads(type_v, hparams, 'V');
    const int32_t trained = llama_model_n_ctx_train(engine.model());
    shape.context_size = config.context_size > 0                    ? config.context_size
                         : trained > 0 && trained < DEFAULT_CONTEXT ? trained
                                                                    : DEFAULT_CONTEXT;
    const auto cores = static_cast<int32_t>(std::max(1u, std::thread::hardware_concurrency()));
    shape.threads = options.threads > 0 ? options.threads : cores;
    shape.max_streams = options.max_streams;
    shape.kv_map = options.kv_map;
    shape.batch_size = std::min(options.batch_size, shape.context_size);
    shape.ubatch_size = std::min(options.ubatch_size, shape.batch_size);

    StreamOptions seeded = options;
    if (!options.seed_given) seeded.seed = std::random_device{}();
    return new LlamaSession(ctx, engine, config, seeded, shape);
}

} // namespace eliza

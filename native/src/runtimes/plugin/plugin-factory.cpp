#include "runtimes/plugin/plugin-factory.h"

#include <algorithm>
#include <mutex>
#include <random>
#include <tuple>

#include <nlohmann/json.hpp>

#include "error/failure.h"
#include "runtimes/plugin/plugin-failure.h"
#include "runtimes/plugin/plugin-library.h"
#include "runtimes/plugin/probe.h"
#include "runtimes/worker/token-source.h"

namespace eliza {

namespace {

#if defined(_WIN32)
constexpr const char *PREFIX = "", *ENDING = ".dll";
#elif defined(__APPLE__)
constexpr const char *PREFIX = "lib", *ENDING = ".dylib";
#else
constexpr const char *PREFIX = "lib", *ENDING = ".so";
#endif

PluginLibrary library_of(const PluginRuntime &runtime) {
    return open_plugin(runtime.variable, std::string(PREFIX) + runtime.file + ENDING);
}

Capabilities capabilities_of_table(const eliza_runtime_plugin_table &table) {
    Capabilities capabilities{};
    // What the border can carry; a claim of anything else is not believed.
    constexpr std::pair<uint64_t, Capability> CARRIED[] = {
        {ELIZA_CAPABILITY_TOKENIZE, Capability::TOKENIZE}, {ELIZA_CAPABILITY_DETOKENIZE, Capability::DETOKENIZE},
        {ELIZA_CAPABILITY_TOKENS, Capability::TOKENS},     {ELIZA_CAPABILITY_RESET_KEEP, Capability::RESET_KEEP},
        {ELIZA_CAPABILITY_GRAMMAR, Capability::GRAMMAR},   {ELIZA_CAPABILITY_SPECULATIVE, Capability::SPECULATIVE},
    };
    for (const auto &[bit, capability] : CARRIED) {
        if ((table.capabilities & bit) != 0) capabilities.add(capability);
    }
    return capabilities;
}

class PluginSource final : public TokenSource {
  public:
    PluginSource(std::string runtime, const eliza_runtime_plugin_table &table, const std::string &artifact,
                 const eliza_llm_stream_config_t &config, const StreamOptions &options)
        : runtime_(std::move(runtime)), table_(table), opened_(options.generation) {
        const uint32_t seed = options.seed_given ? options.seed : std::random_device{}();
        char error[1024] = "";
        const int status =
            table.open(artifact.c_str(), &config, seed, options.threads, &session_, error, sizeof(error));
        if (status < 0 || session_ == nullptr) throw_plugin_failure(runtime_, error);
    }
    ~PluginSource() override { table_.close(session_); }

    Capabilities capabilities() const override { return capabilities_of_table(table_); }
    int32_t vocabulary() const override { return table_.vocabulary(session_); }
    int32_t context_size() const override { return table_.context_size(session_); }

    void prefill(const int32_t *ids, size_t count) override {
        char error[1024] = "";
        const int status = table_.prefill(session_, ids, count, error, sizeof(error));
        if (status < 0) throw_plugin_failure(runtime_, error);
    }

    SourceStep step() override {
        eliza_plugin_token token{};
        char error[1024] = "";
        const int status = table_.step(session_, &token, error, sizeof(error));
        if (status < 0) throw_plugin_failure(runtime_, error);
        SourceStep step;
        step.end = status == 1;
        step.id = token.id;
        step.bytes.assign(token.bytes, std::min(token.byte_count, sizeof(token.bytes)));
        step.drafted = token.drafted;
        step.accepted = token.accepted;
        return step;
    }

    int32_t keep(int32_t n_keep) override { return table_.keep(session_, n_keep); }

    void cancel() override {
        if (table_.cancel != nullptr) table_.cancel(session_);
    }

    size_t prefill_size() const override { return static_cast<size_t>(std::max(0, table_.prefill_size)); }

    void configure(const GenerationOptions &options) override {
        const auto drawn = [](const GenerationOptions &each) {
            return std::tie(each.temperature, each.top_p, each.top_k, each.min_p, each.repeat_penalty,
                            each.penalty_last_n);
        };
        if (table_.configure == nullptr) {
            if (drawn(options) == drawn(opened_) && options.seed == opened_.seed) return;
            throw Failure(Code::NOT_IMPLEMENTED, runtime_ + " draws tokens as its stream was opened",
                          "open another stream with these options");
        }
        const eliza_plugin_sampling sampling{options.temperature,
                                             options.top_p,
                                             options.top_k,
                                             options.min_p,
                                             options.repeat_penalty,
                                             options.penalty_last_n,
                                             options.seed.value_or(0),
                                             options.seed.has_value()};
        char error[1024] = "";
        if (table_.configure(session_, &sampling, error, sizeof(error)) < 0) throw_plugin_failure(runtime_, error);
    }

    std::vector<int32_t> tokenize(std::string_view text, bool add_special, bool parse_special) const override {
        std::vector<int32_t> ids(text.size() + 2);
        const auto into = [&] {
            return table_.tokenize(session_, text.data(), text.size(), add_special, parse_special, ids.data(),
                                   ids.size());
        };
        int32_t count = into();
        if (count > static_cast<int32_t>(ids.size())) {
            ids.resize(static_cast<size_t>(count));
            count = into();
        }
        if (count < 0) throw_plugin_failure(runtime_, "");
        ids.resize(static_cast<size_t>(count));
        return ids;
    }

    std::string detokenize(const int32_t *ids, size_t count, bool special) const override {
        return grown(
            [&](char *bytes, size_t cap) { return table_.detokenize(session_, ids, count, special, bytes, cap); });
    }

    std::string report() override {
        auto report = nlohmann::json::parse(
            grown([&](char *json, size_t cap) { return table_.report(session_, json, cap); }), nullptr, false);
        if (!report.is_object()) throw_plugin_failure(runtime_, "its report is no JSON object");
        report["runtimeVersion"] = table_.runtime_version;
        return report.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    }

  private:
    template <typename Fill> std::string grown(Fill fill) const {
        std::string text(4096, '\0');
        int32_t length = fill(text.data(), text.size());
        if (length > static_cast<int32_t>(text.size())) {
            text.resize(static_cast<size_t>(length));
            length = fill(text.data(), text.size());
        }
        if (length < 0) throw_plugin_failure(runtime_, "");
        text.resize(static_cast<size_t>(length));
        return text;
    }

    const std::string runtime_;
    const eliza_runtime_plugin_table &table_;
    const GenerationOptions opened_;
    void *session_ = nullptr;
};

// Keeps a model loaded between the streams of a context.
class RetainedModel final : public LlmBackendState {
  public:
    ~RetainedModel() override {
        if (release_ != nullptr) release_(artifact_.c_str(), threads_);
    }

    // Once: the first of what was opened stays.
    void retain(const std::string &runtime, const eliza_runtime_plugin_table &table, const std::string &artifact,
                int32_t threads) {
        const std::lock_guard lock(mutex_);
        if (release_ != nullptr || table.retain == nullptr || table.release == nullptr) return;
        char error[1024] = "";
        if (table.retain(artifact.c_str(), threads, error, sizeof(error)) < 0) throw_plugin_failure(runtime, error);
        artifact_ = artifact;
        threads_ = threads;
        release_ = table.release;
    }

  private:
    std::mutex mutex_;
    std::string artifact_;
    int32_t threads_ = 0;
    void (*release_)(const char *, int32_t) = nullptr;
};

} // namespace

Verdict PluginFactory::available() const {
    const PluginLibrary library = library_of(runtime_);
    if (library.table == nullptr) return Verdict::no(library.reason);
    char reason[512] = "";
    if (library.table->available(reason, sizeof(reason)) == 1) return {};
    return Verdict::no(reason[0] != '\0' ? reason : "its plugin gives no reason");
}

Verdict PluginFactory::can_serve(const char *bundle) const {
    if (!runtime_.artifact(bundle).empty()) return {};
    return Verdict::no(std::string("the bundle has no ") + runtime_.artifacts);
}

Capabilities PluginFactory::capabilities() const {
    const PluginLibrary library = library_of(runtime_);
    return library.table != nullptr ? capabilities_of_table(*library.table) : Capabilities{};
}

Verdict PluginFactory::supports(const eliza_llm_stream_config_t &config, const StreamOptions &options) const {
    if (const Verdict verdict = LlmBackendFactory::supports(config, options); !verdict.yes) return verdict;
    if (options.min_p > 0.0f) return Verdict::no("min_p is not among the options that a plugin is opened with");
    const PluginLibrary library = library_of(runtime_);
    if (library.table == nullptr || library.table->supports == nullptr) return {};
    char reason[512] = "";
    return library.table->supports(&config, reason, sizeof(reason)) == 1 ? Verdict{} : Verdict::no(reason);
}

LlmBackendSession *PluginFactory::open(EliInferenceContext *ctx, const eliza_llm_stream_config_t *config,
                                       const StreamOptions &options, char **) {
    const PluginLibrary library = library_of(runtime_);
    if (library.table == nullptr) {
        throw Failure(Code::BACKEND_UNAVAILABLE, std::string(name()) + ": " + library.reason, "install its plugin");
    }
    const std::string artifact = runtime_.artifact(llm_backend_context_bundle_dir(ctx));
    probe_artifact(runtime_.name, library.table->runtime_version, library.path, artifact);
    auto source = std::make_unique<PluginSource>(runtime_.name, *library.table, artifact, *config, options);
    LlmBackendState &state = llm_backend_context_state(ctx, this, [] { return std::make_unique<RetainedModel>(); });
    static_cast<RetainedModel &>(state).retain(runtime_.name, *library.table, artifact, options.threads);
    return open_worker_session(runtime_.name, llm_backend_context_poll_hub(ctx), std::move(source), options).release();
}

} // namespace eliza

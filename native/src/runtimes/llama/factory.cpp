#include "runtimes/llama/factory.h"

#include <string_view>

#include "error/failure.h"
#include "runtimes/llama/engine-registry.h"
#include "runtimes/llama/model.h"
#include "runtimes/llama/session.h"

namespace eliza {

namespace {

// Without its code and its hint.
std::string message_of(const Failure &failure) {
    const std::string text = failure.what();
    const size_t from = text.find(": ") + 2;
    return text.substr(from, text.find('\n') - from);
}

class LlamaFactory final : public LlmBackendFactory {
  public:
    const char *name() const override { return "llama.cpp"; }
    Verdict available() const override { return {}; }

    Verdict can_serve(const char *bundle) const override {
        if (std::string_view(bundle).ends_with(".litertlm")) return Verdict::no("it is no .gguf file");
        try {
            find_gguf(bundle);
            return {};
        } catch (const Failure &failure) {
            return Verdict::no(message_of(failure));
        }
    }

    Capabilities capabilities() const override { return llama_capabilities(); }

    LlmBackendSession *open(EliInferenceContext *ctx, const eliza_llm_stream_config_t *config,
                            const StreamOptions &options, char **) override {
        if (const Verdict verdict = supports(*config, options); !verdict.yes) {
            throw Failure(Code::NOT_IMPLEMENTED, "llama.cpp: " + verdict.reason, "leave it out of the config");
        }
        const LlamaPlace place{llm_backend_context_bundle_dir(ctx), llm_backend_context_poll_hub(ctx),
                               llama_engines(ctx)};
        return open_llama_session(place, *config, options).release();
    }
};

} // namespace

LlmBackendFactory *llama_factory() {
    static LlamaFactory factory;
    return &factory;
}

EngineRegistry &llama_engines(EliInferenceContext *ctx) {
    LlmBackendState &state =
        llm_backend_context_state(ctx, llama_factory(), [] { return std::make_unique<EngineRegistry>(); });
    return static_cast<EngineRegistry &>(state);
}

} // namespace eliza

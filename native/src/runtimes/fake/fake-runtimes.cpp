// The test library alone has this: runtimes whose every answer a test decides.
#include <filesystem>
#include <memory>
#include <vector>

#include <nlohmann/json.hpp>

#include "error/failure.h"
#include "runtimes/fake/fake-source.h"
#include "select/registry.h"

namespace eliza {

namespace {

using nlohmann::json;

class FakeFactory final : public LlmBackendFactory {
  public:
    explicit FakeFactory(FakeSpec spec) : spec_(std::move(spec)) {}

    const char *name() const override { return spec_.name.c_str(); }
    int preference_rank() const override { return spec_.rank; }
    Capabilities capabilities() const override { return spec_.capabilities; }

    Verdict available() const override {
        return spec_.unavailable.empty() ? Verdict{} : Verdict::no(spec_.unavailable);
    }

    Verdict can_serve(const char *bundle) const override {
        std::error_code code;
        for (const auto &entry : std::filesystem::directory_iterator(std::filesystem::path(bundle) / "text", code)) {
            if (entry.path().extension() == spec_.artifact) return {};
        }
        return Verdict::no("the bundle has no text/*" + spec_.artifact);
    }

    Verdict supports(const eliza_llm_stream_config_t &config, const StreamOptions &options) const override {
        if (!spec_.unsupported.empty()) return Verdict::no(spec_.unsupported);
        return LlmBackendFactory::supports(config, options);
    }

    LlmBackendSession *open(EliInferenceContext *ctx, const eliza_llm_stream_config_t *config,
                            const StreamOptions &options, char **) override {
        return open_worker_session(spec_.name, llm_backend_context_poll_hub(ctx), make_fake_source(spec_, *config),
                                   options)
            .release();
    }

  private:
    const FakeSpec spec_;
};

FakeSpec read_spec(const json &text) {
    FakeSpec spec;
    spec.name = text.at("name");
    spec.rank = text.value("rank", 0);
    spec.unavailable = text.value("unavailable", "");
    spec.unsupported = text.value("unsupported", "");
    spec.artifact = text.value("artifact", ".fake");
    spec.step_ms = text.value("stepMs", 0);
    spec.end_after = text.value("endAfter", 0);
    spec.fail_after = text.value("failAfter", 0);
    spec.trained_context = text.value("trainedContext", 256);
    spec.capabilities = capabilities_of(text.value(
        "capabilities", std::vector<std::string>{"tokenize", "detokenize", "tokens", "reset-keep", "speculative"}));
    return spec;
}

std::vector<std::unique_ptr<FakeFactory>> &made() {
    static std::vector<std::unique_ptr<FakeFactory>> all; // sessions may outlive their factory's registration
    return all;
}

} // namespace

} // namespace eliza

// Replaces the fake runtimes by those of a JSON array.
extern "C" ELIZA_API int eliza_test_set_fake_runtimes(const char *specs, char **out_error) {
    return eliza::guarded(out_error, [&] {
        std::vector<std::unique_ptr<eliza::FakeFactory>> fresh;
        for (const auto &spec : nlohmann::json::parse(specs)) {
            fresh.push_back(std::make_unique<eliza::FakeFactory>(eliza::read_spec(spec)));
        }
        for (const auto &factory : eliza::made()) eliza::unregister_runtime(factory.get());
        for (auto &factory : fresh) {
            llm_backend_register(factory.get());
            eliza::made().push_back(std::move(factory));
        }
        return ELIZA_OK;
    });
}

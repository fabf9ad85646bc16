#include <cstdlib>
#include <cstring>
#include <string>

#include "check.h"
#include "select/llm-backend.h"

namespace {

class FakeFactory final : public LlmBackendFactory {
  public:
    FakeFactory(const char *name, int rank) : name_(name), rank_(rank) {}
    const char *name() const override { return name_; }
    eliza::Verdict available() const override {
        return is_available ? eliza::Verdict{} : eliza::Verdict::no("not available on this host");
    }
    eliza::Verdict can_serve(const char *) const override {
        return serves ? eliza::Verdict{} : eliza::Verdict::no("the bundle has no artifact for it");
    }
    eliza::Capabilities capabilities() const override { return {eliza::Capability::TOKENIZE}; }
    int preference_rank() const override { return rank_; }
    LlmBackendSession *open(EliInferenceContext *, const eliza_llm_stream_config_t *, const eliza::StreamOptions &,
                            char **) override {
        return nullptr;
    }

    bool is_available = true;
    bool serves = true;

  private:
    const char *name_;
    int rank_;
};

FakeFactory low("Fake-Low", 5);
FakeFactory high("fake-high", 9);
FakeFactory equal("fake-equal", 9);

struct Outcome {
    LlmBackendFactory *factory;
    std::string error;
    std::vector<eliza::Candidate> candidates;
};

Outcome select(const char *env) {
    if (env != nullptr) {
        setenv("ELIZA_LLM_BACKEND", env, 1);
    } else {
        unsetenv("ELIZA_LLM_BACKEND");
    }
    llm_backend_register_builtins();
    for (FakeFactory *factory : {&low, &high, &equal}) llm_backend_register(factory);
    const eliza_llm_stream_config_t config{};
    Outcome outcome{};
    char *error = nullptr;
    outcome.factory = llm_backend_select("bundle", &config, {}, &outcome.candidates, &error);
    if (error != nullptr) outcome.error = error;
    eliza_inference_free_string(error);
    unsetenv("ELIZA_LLM_BACKEND");
    return outcome;
}

void all_usable(bool usable) {
    for (FakeFactory *factory : {&low, &high, &equal}) factory->is_available = factory->serves = usable;
}

} // namespace

TEST("the highest rank wins, the first registered among equals") {
    all_usable(true);
    const Outcome outcome = select(nullptr);
    EXPECT(outcome.factory == &high && outcome.error.empty());
    EXPECT(outcome.candidates.size() == 4 && outcome.candidates[1].chosen && !outcome.candidates[3].chosen);
}

TEST("a runtime that is absent or cannot serve is passed over, with the reason") {
    all_usable(true);
    high.is_available = false;
    equal.serves = false;
    const Outcome outcome = select(nullptr);
    EXPECT(outcome.factory == &low);
    EXPECT(outcome.candidates[1].reason.find("not available") != std::string::npos);
    EXPECT(outcome.candidates[2].reason.find("no artifact") != std::string::npos);
}

TEST("no runtime qualifies: llama.cpp, without an error") {
    all_usable(false);
    const Outcome outcome = select(nullptr);
    EXPECT(outcome.factory == nullptr && outcome.error.empty());
    EXPECT(outcome.candidates.back().runtime == "llama.cpp" && outcome.candidates.back().chosen);
}

TEST("ELIZA_LLM_BACKEND is a hard choice, whatever the letter case") {
    all_usable(true);
    EXPECT(select("FAKE-low").factory == &low);
    for (const char *name : {"llama.cpp", "LlamaCpp", "LLAMA.CPP"}) {
        const Outcome outcome = select(name);
        EXPECT(outcome.factory == nullptr && outcome.error.empty());
    }
}

TEST("a choice that cannot be honoured is an error, never a fallback") {
    all_usable(true);
    low.is_available = false;
    EXPECT(select("fake-low").factory == nullptr && !select("fake-low").error.empty());
    low.is_available = true;
    low.serves = false;
    EXPECT(select("fake-low").error.find("no artifact") != std::string::npos);
    EXPECT(select("mlx-coreml").error.find("mlx-coreml") != std::string::npos);
}

TEST("an empty ELIZA_LLM_BACKEND counts as unset") {
    all_usable(true);
    EXPECT(select("").factory == &high);
}

TEST("no bundle is served by llama.cpp alone") {
    all_usable(true);
    const eliza_llm_stream_config_t config{};
    std::vector<eliza::Candidate> candidates;
    char *error = nullptr;
    EXPECT(llm_backend_select(nullptr, &config, {}, &candidates, &error) == nullptr && error == nullptr);
    EXPECT(llm_backend_context_bundle_dir(nullptr) == nullptr);
}

#include "select/llm-backend.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <mutex>

#include "error/failure.h"

namespace {

std::mutex registry_mutex;

std::vector<LlmBackendFactory *> &registry() {
    static std::vector<LlmBackendFactory *> factories;
    return factories;
}

std::string lower(std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

bool names_llama_cpp(const std::string &name) { return name == "llama.cpp" || name == "llamacpp"; }

} // namespace

void llm_backend_register(LlmBackendFactory *factory) {
    const std::lock_guard lock(registry_mutex);
    const auto same_name = [&](const LlmBackendFactory *other) {
        return lower(other->name()) == lower(factory->name());
    };
    if (std::ranges::none_of(registry(), same_name)) registry().push_back(factory);
}

void llm_backend_register_builtins() {
    // LiteRT-LM and MLX register here once their sessions exist; llama.cpp is the fallback and needs no entry.
}

LlmBackendFactory *llm_backend_select(const char *bundle, const eliza_llm_stream_config_t *,
                                      std::vector<eliza::Candidate> *candidates, char **out_error) {
    const std::lock_guard lock(registry_mutex);
    const char *env = std::getenv("ELIZA_LLM_BACKEND");
    const std::string wanted = lower(env != nullptr ? env : "");
    const auto look_at = [&](LlmBackendFactory *factory) {
        if (!factory->available()) return std::string("not available on this host or in this build");
        if (bundle == nullptr || !factory->can_serve(bundle)) return std::string("the bundle has no artifact for it");
        return std::string();
    };

    if (!wanted.empty()) {
        if (names_llama_cpp(wanted)) {
            candidates->push_back({"llama.cpp", true, "asked for by ELIZA_LLM_BACKEND"});
            return nullptr;
        }
        std::string reason = "no runtime of that name is in this build";
        for (LlmBackendFactory *factory : registry()) {
            if (lower(factory->name()) != wanted) continue;
            reason = look_at(factory);
            if (reason.empty()) {
                candidates->push_back({factory->name(), true, "asked for by ELIZA_LLM_BACKEND"});
                return factory;
            }
        }
        eliza::set_error(out_error,
                         eliza::error_text(eliza::Code::BACKEND_UNAVAILABLE,
                                           "ELIZA_LLM_BACKEND asks for \"" + std::string(env) + "\": " + reason,
                                           "unset ELIZA_LLM_BACKEND, or set it to llama.cpp"));
        return nullptr;
    }

    LlmBackendFactory *best = nullptr;
    for (LlmBackendFactory *factory : registry()) {
        const std::string reason = look_at(factory);
        candidates->push_back({factory->name(), false, reason});
        if (!reason.empty()) continue;
        if (best == nullptr || factory->preference_rank() > best->preference_rank()) best = factory;
    }
    for (eliza::Candidate &candidate : *candidates) {
        candidate.chosen = best != nullptr && candidate.runtime == best->name();
        if (candidate.reason.empty()) candidate.reason = candidate.chosen ? "highest rank" : "lower rank";
    }
    candidates->push_back({"llama.cpp", best == nullptr, best == nullptr ? "the default" : "lower rank"});
    return best;
}

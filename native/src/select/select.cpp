#include "select/llm-backend.h"

#include <algorithm>
#include <cstdlib>

#include "error/failure.h"
#include "select/known-runtimes.h"
#include "select/registry.h"

namespace {

using eliza::Candidate;
using eliza::lower_case;
using eliza::Verdict;

Verdict look_at(const LlmBackendFactory &factory, const char *bundle, const eliza_llm_stream_config_t &config,
                const eliza::StreamOptions &options) {
    if (const Verdict verdict = factory.available(); !verdict.yes) return verdict;
    if (bundle == nullptr) return Verdict::no("there is no bundle");
    if (const Verdict verdict = factory.can_serve(bundle); !verdict.yes) return verdict;
    return factory.supports(config, options);
}

// What was asked for by name, and where; an empty name for no choice.
struct Choice {
    std::string name;
    std::string asked_by;
};

Choice hard_choice(const eliza::StreamOptions &options) {
    const char *env = std::getenv("ELIZA_LLM_BACKEND");
    const bool has_env = env != nullptr && env[0] != '\0';
    if (options.runtime.empty()) return has_env ? Choice{env, "ELIZA_LLM_BACKEND"} : Choice{};
    const auto canonical = [](const std::string &name) {
        const std::string lower = lower_case(name);
        return lower == "llamacpp" ? std::string("llama.cpp") : lower;
    };
    if (has_env && canonical(env) != canonical(options.runtime)) {
        throw eliza::Failure(eliza::Code::BACKEND_UNAVAILABLE,
                             "the option runtime asks for \"" + options.runtime + "\", ELIZA_LLM_BACKEND for \"" + env +
                                 "\"",
                             "let only one of them choose");
    }
    return {options.runtime, "the option runtime"};
}

std::string in_words(const std::vector<Candidate> &candidates) {
    std::string words;
    for (const Candidate &candidate : candidates) {
        words += (words.empty() ? "" : "; ") + candidate.runtime + ": " + candidate.reason;
    }
    return words;
}

// llama.cpp last: equal ranks go to the others.
std::vector<LlmBackendFactory *> in_order() {
    std::vector<LlmBackendFactory *> all = eliza::registered_runtimes();
    std::ranges::stable_partition(all,
                                  [](const LlmBackendFactory *factory) { return factory != llm_backend_default(); });
    return all;
}

LlmBackendFactory *choose_by_name(const Choice &choice, std::vector<Candidate> *candidates) {
    LlmBackendFactory *const wanted = eliza::find_runtime(choice.name);
    const std::string asked = "asked for by " + choice.asked_by;
    const auto looked_at = std::ranges::find_if(*candidates, [&](const Candidate &candidate) {
        return wanted != nullptr && candidate.runtime == wanted->name();
    });
    const bool is_default = wanted != nullptr && wanted == llm_backend_default();
    if (looked_at != candidates->end() && (looked_at->reason.empty() || is_default)) {
        for (Candidate &candidate : *candidates) {
            candidate.chosen = candidate.runtime == wanted->name();
            if (candidate.chosen) candidate.reason = asked;
            if (candidate.reason.empty()) candidate.reason = "another was " + asked;
        }
        return is_default ? nullptr : wanted;
    }
    const std::string why = wanted != nullptr ? looked_at->reason : eliza::why_not_here(choice.name);
    for (Candidate &candidate : *candidates) {
        if (candidate.reason.empty()) candidate.reason = "could serve";
    }
    throw eliza::Failure(eliza::Code::BACKEND_UNAVAILABLE,
                         choice.asked_by + " asks for \"" + choice.name + "\": " + why + ". Looked at " +
                             in_words(*candidates),
                         "choose one that could serve, or none");
}

LlmBackendFactory *choose_by_rank(const std::vector<LlmBackendFactory *> &runtimes,
                                  std::vector<Candidate> *candidates) {
    LlmBackendFactory *best = nullptr;
    for (size_t i = 0; i < runtimes.size(); ++i) {
        if (!(*candidates)[i].reason.empty()) continue;
        if (best == nullptr || runtimes[i]->preference_rank() > best->preference_rank()) best = runtimes[i];
    }
    LlmBackendFactory *const fallback = llm_backend_default();
    for (size_t i = 0; i < runtimes.size(); ++i) {
        Candidate &candidate = (*candidates)[i];
        candidate.chosen = runtimes[i] == (best != nullptr ? best : fallback);
        if (candidate.chosen) {
            candidate.reason =
                runtimes[i] == fallback ? candidate.reason.empty() ? "the default" : candidate.reason : "highest rank";
        } else if (candidate.reason.empty()) {
            candidate.reason = "lower rank";
        }
    }
    return best == fallback ? nullptr : best;
}

} // namespace

LlmBackendFactory *llm_backend_select(const char *bundle, const eliza_llm_stream_config_t *config,
                                      const eliza::StreamOptions &options, std::vector<Candidate> *candidates,
                                      char **out_error) {
    LlmBackendFactory *chosen = nullptr;
    eliza::guarded(out_error, [&] {
        const Choice choice = hard_choice(options);
        const std::vector<LlmBackendFactory *> runtimes = in_order();
        for (const LlmBackendFactory *runtime : runtimes) {
            const Verdict verdict = look_at(*runtime, bundle, *config, options);
            const std::string why = verdict.reason.empty() ? "it gives no reason" : verdict.reason;
            candidates->push_back({runtime->name(), false, verdict.yes ? "" : why});
        }
        chosen = choice.name.empty() ? choose_by_rank(runtimes, candidates) : choose_by_name(choice, candidates);
        return ELIZA_OK;
    });
    return chosen;
}

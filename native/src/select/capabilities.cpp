#include "select/capabilities.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "error/failure.h"
#include "select/llm-backend.h"

namespace eliza {

namespace {

constexpr std::array NAMES = {"tokenize",     "detokenize", "tokens",  "reset-keep", "slots",
                              "shared-cache", "kv-types",   "kv-map",  "grammar",    "speculative",
                              "prompt-cache", "samplers",   "logprobs"};
static_assert(NAMES.size() == static_cast<size_t>(Capability::LOGPROBS) + 1);

bool given(const char *text) { return text != nullptr && text[0] != '\0'; }

bool is_coded(const char *cache_type) { return given(cache_type) && std::strcmp(cache_type, "f16") != 0; }

} // namespace

const char *capability_name(Capability capability) { return NAMES.at(static_cast<size_t>(capability)); }

std::vector<std::string> Capabilities::names() const {
    std::vector<std::string> names;
    for (size_t i = 0; i < NAMES.size(); ++i) {
        if (has(static_cast<Capability>(i))) names.emplace_back(NAMES[i]);
    }
    return names;
}

Capabilities capabilities_of(const std::vector<std::string> &names) {
    Capabilities capabilities{};
    for (const std::string &name : names) {
        const auto at = std::ranges::find(NAMES, name, [](const char *known) { return std::string_view(known); });
        if (at == NAMES.end()) {
            throw Failure(Code::INVALID_ARGUMENT, "\"" + name + "\" is no capability",
                          "select/capabilities.h lists them");
        }
        capabilities.add(static_cast<Capability>(at - NAMES.begin()));
    }
    return capabilities;
}

std::vector<Need> needs_of(const eliza_llm_stream_config_t &config, const StreamOptions &options) {
    std::vector<Need> needs;
    if (options.max_streams > 1) needs.push_back({"max_streams", Capability::SHARED_CACHE});
    if (is_coded(config.cache_type_k)) needs.push_back({"cache_type_k", Capability::KV_TYPES});
    if (is_coded(config.cache_type_v)) needs.push_back({"cache_type_v", Capability::KV_TYPES});
    if (!options.kv_map.empty()) needs.push_back({"kv_map", Capability::KV_MAP});
    if (given(config.mtp_drafter_path)) needs.push_back({"mtp_drafter_path", Capability::SPECULATIVE});
    if (config.draft_min > 0 || config.draft_max > 0) needs.push_back({"draft_max", Capability::SPECULATIVE});
    if (config.slot_id > 0) needs.push_back({"slot_id", Capability::PROMPT_CACHE});
    if (given(config.prompt_cache_key)) needs.push_back({"prompt_cache_key", Capability::PROMPT_CACHE});
    for (const Need &need : needs_of(options.generation)) needs.push_back(need);
    return needs;
}

std::vector<Need> needs_of(const GenerationOptions &generation) {
    std::vector<Need> needs;
    if (!generation.grammar.empty()) needs.push_back({"grammar", Capability::GRAMMAR});
    if (generation.logprobs >= 0) needs.push_back({"logprobs", Capability::LOGPROBS});
    if (generation.presence_penalty != 0.0f) needs.push_back({"presence_penalty", Capability::SAMPLERS});
    if (generation.frequency_penalty != 0.0f) needs.push_back({"frequency_penalty", Capability::SAMPLERS});
    if (generation.typical_p > 0.0f && generation.typical_p < 1.0f)
        needs.push_back({"typical_p", Capability::SAMPLERS});
    if (generation.dry.multiplier > 0.0f) needs.push_back({"dry_multiplier", Capability::SAMPLERS});
    if (generation.xtc.probability > 0.0f) needs.push_back({"xtc_probability", Capability::SAMPLERS});
    if (generation.mirostat.version != 0) needs.push_back({"mirostat", Capability::SAMPLERS});
    if (!generation.logit_bias.empty()) needs.push_back({"logit_bias", Capability::SAMPLERS});
    return needs;
}

std::string unmet_needs(const std::vector<Need> &needs, const Capabilities &capabilities) {
    std::string unmet;
    for (const Need &need : needs) {
        if (capabilities.has(need.capability)) continue;
        unmet += (unmet.empty() ? "" : ", ") + std::string(need.option) + " needs the capability " +
                 capability_name(need.capability);
    }
    return unmet;
}

} // namespace eliza

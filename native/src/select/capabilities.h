#pragma once

#include <string>
#include <vector>

#include "eliza-inference-ffi.h"

namespace eliza {

struct GenerationOptions;
struct StreamOptions;

// What not every runtime can do. Calls that need one are refused by its name where a session lacks it.
enum class Capability {
    TOKENIZE,     // text to ids by the model's own vocabulary
    DETOKENIZE,   // ids to text
    TOKENS,       // the sequence's ids can be read back
    RESET_KEEP,   // a prefix of the sequence can be kept
    SLOTS,        // sequences are saved to files and restored
    SHARED_CACHE, // several streams in one cache, decoded together
    KV_TYPES,     // cache types other than f16
    KV_MAP,       // learned maps of the cache
    GRAMMAR,      // output held to a grammar
    SPECULATIVE,  // drafted tokens
    PROMPT_CACHE, // prompts named by slot or key
    SAMPLERS,     // presence and frequency penalty, typical, DRY, XTC, mirostat, logit bias
    LOGPROBS,     // log probabilities of tokens
};

// "tokenize", "reset-keep", …
const char *capability_name(Capability capability);

class Capabilities {
  public:
    constexpr Capabilities(std::initializer_list<Capability> list) {
        for (const Capability capability : list) add(capability);
    }
    constexpr void add(Capability capability) { bits_ |= bit(capability); }
    constexpr bool has(Capability capability) const { return (bits_ & bit(capability)) != 0; }
    std::vector<std::string> names() const;

  private:
    static constexpr uint64_t bit(Capability capability) { return uint64_t(1) << static_cast<unsigned>(capability); }
    uint64_t bits_ = 0;
};

// Of their names. Throws INVALID_ARGUMENT for one that is not known.
Capabilities capabilities_of(const std::vector<std::string> &names);

// One thing that a config or its options ask for, and what a runtime needs to give it.
struct Need {
    const char *option;
    Capability capability;
};

// What a stream opened so asks for beyond plain generation.
std::vector<Need> needs_of(const eliza_llm_stream_config_t &config, const StreamOptions &options);

// What a generation with these options asks for beyond the config.
std::vector<Need> needs_of(const GenerationOptions &generation);

// Which of these needs is not met, in words; empty if all are.
std::string unmet_needs(const std::vector<Need> &needs, const Capabilities &capabilities);

} // namespace eliza

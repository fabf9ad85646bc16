#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace eliza {

// DRY: tokens that would go on with what has been said before become less likely, the more the longer it repeats.
struct DryOptions {
    float multiplier = 0.0f; // 0: off
    float base = 1.75f;
    int32_t allowed_length = 2;
    int32_t last_n = 4096;
    std::vector<std::string> breakers{"\n", ":", "\"", "*"}; // texts across which nothing repeats
};

// XTC: with this probability, all but the least likely of the tokens above the threshold are left out.
struct XtcOptions {
    float probability = 0.0f; // 0: off
    float threshold = 0.1f;
};

// Draws at a steady surprise; in place of the samplers that leave unlikely tokens out.
struct MirostatOptions {
    int32_t version = 0; // 0: off, 1 or 2
    float tau = 5.0f;
    float eta = 0.1f;
};

struct LogitBias {
    int32_t token = 0;
    float bias = 0.0f;

    bool operator==(const LogitBias &) const = default;
};

// How a generation draws its tokens and when it ends; it may differ from one generation of a stream to the next.
struct GenerationOptions {
    int32_t max_tokens = 0;      // <= 0: until the context is full
    float temperature = 0.0f;    // <= 0: greedy
    float top_p = 0.0f;          // (0, 1); anything else: off
    int32_t top_k = 0;           // <= 0: off
    float min_p = 0.0f;          // 0: off
    float typical_p = 0.0f;      // (0, 1); anything else: off
    float repeat_penalty = 0.0f; // <= 0 or 1: off
    float presence_penalty = 0.0f;
    float frequency_penalty = 0.0f;
    int32_t penalty_last_n = 64; // of the three penalties
    DryOptions dry;
    XtcOptions xtc;
    MirostatOptions mirostat;
    std::vector<LogitBias> logit_bias;
    std::string grammar;           // GBNF that the text is held to; empty: none
    int32_t logprobs = -1;         // of each token, and of so many of the likeliest; -1: none
    std::optional<uint32_t> seed;  // absent: the stream's draws go on
    std::vector<std::string> stop; // text that ends the generation and is not part of it
};

} // namespace eliza

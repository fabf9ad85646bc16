#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace eliza {

// How a generation draws its tokens and when it ends; it may differ from one generation of a stream to the next.
struct GenerationOptions {
    int32_t max_tokens = 0;      // <= 0: until the context is full
    float temperature = 0.0f;    // <= 0: greedy
    float top_p = 0.0f;          // (0, 1); anything else: off
    int32_t top_k = 0;           // <= 0: off
    float min_p = 0.0f;          // 0: off
    float repeat_penalty = 0.0f; // <= 0 or 1: off
    int32_t penalty_last_n = 64;
    std::optional<uint32_t> seed;  // absent: the stream's draws go on
    std::vector<std::string> stop; // text that ends the generation and is not part of it
};

} // namespace eliza

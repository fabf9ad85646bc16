#pragma once

#include <cstddef>
#include <cstdint>

namespace eliza {

// What a stream is doing when a prompt is handed over.
struct PromptState {
    int32_t vocabulary = 0; // ids are 0 to vocabulary - 1
    bool cancelled = false;
    bool generating = false;
    bool asked_for = false; // the answer to what was handed over was asked for
    int32_t context_size = 0;
    int32_t planned = 0; // tokens in the cache and on the way there
};

// The same rules in every runtime. Throws INVALID_ARGUMENT, CANCELLED or CONTEXT_FULL.
void check_prompt(const int32_t *ids, size_t count, const PromptState &state);

} // namespace eliza

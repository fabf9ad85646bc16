#pragma once

#include <algorithm>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "error/failure.h"

namespace eliza {

// A copy of token ids that eliza_inference_free_tokens frees.
inline void hand_over(const std::vector<int32_t> &ids, int32_t **tokens_out, size_t *count_out) {
    *tokens_out = static_cast<int32_t *>(std::malloc(std::max<size_t>(1, ids.size()) * sizeof(int32_t)));
    if (*tokens_out == nullptr) throw std::bad_alloc();
    std::copy(ids.begin(), ids.end(), *tokens_out);
    *count_out = ids.size();
}

// A copy of text that eliza_inference_free_string frees.
inline void hand_over(const std::string &text, char **text_out) {
    *text_out = copy_string(text);
    if (*text_out == nullptr) throw std::bad_alloc();
}

inline void check_given(bool given, const char *what) {
    if (given) return;
    throw Failure(Code::INVALID_ARGUMENT, std::string(what) + " is NULL", "pass all that the header names");
}

} // namespace eliza

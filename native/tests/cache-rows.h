#pragma once

#include <vector>

#include "llama.h"

namespace small {

// The first `count` rows that layer 0 stores of that side ('K' or 'V'), heads one after the other, decoded and turned
// back by the Hadamard matrix that the graph turned them with.
std::vector<float> stored_rows(llama_context *context, char side, int32_t head_dim, int32_t count);

// Sum of squared differences over the sum of squares of `truth`.
double relative_error(const std::vector<float> &truth, const std::vector<float> &rows);

} // namespace small

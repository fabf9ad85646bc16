#pragma once

#include <algorithm>
#include <cstdint>

#include "eliza-inference-ffi.h"

namespace eliza {

// Tokens that a stream holds where its config names no number: what the model was trained on, within bounds that fit
// most machines. trained <= 0: not known.
inline int32_t default_context_size(int32_t trained) {
    return trained > 0 ? std::min<int32_t>(trained, ELIZA_DEFAULT_CONTEXT_SIZE) : ELIZA_DEFAULT_CONTEXT_SIZE;
}

} // namespace eliza

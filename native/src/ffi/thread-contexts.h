#pragma once

#include "eliza-inference-ffi.h"

namespace eliza {

// When the calling thread ends, the context is destroyed with all its streams, unless it was destroyed before.
void end_with_thread(EliInferenceContext *ctx);
void forget_with_thread(EliInferenceContext *ctx);

} // namespace eliza

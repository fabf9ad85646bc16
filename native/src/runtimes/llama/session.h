#pragma once

#include "select/llm-backend.h"

struct EliInferenceContext;

namespace eliza {

// A session on llama.cpp, the default and the fallback. Throws Failure.
LlmBackendSession *open_llama_session(EliInferenceContext &ctx, const eliza_llm_stream_config_t &config,
                                      const StreamOptions &options);

} // namespace eliza

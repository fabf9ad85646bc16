#pragma once

#include "select/llm-backend.h"

namespace eliza {

// llama.cpp: serves one .gguf, ranks 0, and is what answers where no other runtime can.
LlmBackendFactory *llama_factory();

class EngineRegistry;
// Its models of a context.
EngineRegistry &llama_engines(EliInferenceContext *ctx);

} // namespace eliza

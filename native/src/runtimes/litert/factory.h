#pragma once

#include "select/llm-backend.h"

namespace eliza {

// LiteRT-LM through its plugin: serves text/*.litertlm.
LlmBackendFactory *litert_factory();

} // namespace eliza

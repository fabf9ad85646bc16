#pragma once

#include "select/llm-backend.h"

namespace eliza {

// MLX and Core ML through their plugin: serves text/*.mlpackage, text/*.mlmodelc or a folder of MLX weights.
LlmBackendFactory *mlx_factory();

} // namespace eliza

#pragma once

#include <cstdint>
#include <vector>

#include "llama.h"

namespace eliza {

// How RoPE pairs the dimensions of a head: not at all, neighbours (2i, 2i + 1), or halves (i, i + n/2).
enum class RopePairs : int32_t { none = 0, neighbours = 1, halves = 2 };

// What a layer's map depends on, beside the weights.
struct LayerLayout {
    int32_t source = 0; // the layer whose cache it uses: itself, or an earlier one
    int32_t kv_heads = 0;
    int32_t head_dim_k = 0;
    int32_t head_dim_v = 0;
    int32_t window = 0; // tokens it looks back; 0: all
    RopePairs rope = RopePairs::none;
    std::vector<double> frequencies; // radians a position, one per pair

    bool operator==(const LayerLayout &) const = default;
};

// Throws MAP_UNSUPPORTED for a model whose cache or RoPE is not understood. `sources` as LayerLayout::source.
std::vector<LayerLayout> layer_layout(const llama_model *model, const llama_context *context,
                                      const std::vector<int32_t> &sources);

// What can be checked of a layer without a context: all but `source` and RoPE. Throws MAP_UNSUPPORTED.
LayerLayout layer_shape(const llama_model *model, int32_t layer);

} // namespace eliza

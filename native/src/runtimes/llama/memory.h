#pragma once

#include <cstdint>
#include <string>

#include "exact-window.h"
#include "ggml.h"

struct llama_hparams;

namespace eliza {

// The exact window where a side is coded and nothing else is asked for.
constexpr int32_t DEFAULT_EXACT_TOKENS = 128;
constexpr int32_t DEFAULT_EXACT_SINKS = 4;

// What one llama_context is made for. Streams with equal shapes can share one.
struct ContextShape {
    int32_t context_size = 0; // tokens a stream
    int32_t batch_size = 0;
    int32_t ubatch_size = 0;
    int32_t threads = 0;
    int32_t max_streams = 1;
    ggml_type type_k = GGML_TYPE_F16;
    ggml_type type_v = GGML_TYPE_F16;
    std::string kv_map; // a solved map's file, empty for none
    eliza_exact_window exact;

    bool operator==(const ContextShape &) const = default;
};

// Cells that a layer of this kind gets for one stream (llama.cpp pads both to 256).
uint32_t cache_cells(const llama_hparams &hparams, uint32_t layer, const ContextShape &shape);

// Bytes of K and V that one token takes in one layer, from the formats' layout; 0 for layers without a cache.
uint64_t layer_bytes_per_token(const llama_hparams &hparams, uint32_t layer, ggml_type type_k, ggml_type type_v);

// Over all layers, each token seen by each: what a token costs while it is inside every window.
uint64_t cache_bytes_per_token(const llama_hparams &hparams, ggml_type type_k, ggml_type type_v);

// The f16 rows of the exact window in one layer, for one stream.
uint64_t exact_bytes(const llama_hparams &hparams, uint32_t layer, const ContextShape &shape);

// The whole cache of a context, the exact window included.
uint64_t cache_bytes(const llama_hparams &hparams, const ContextShape &shape);

// Bytes that this process may still take: physical memory that is free or reclaimable, within its cgroup's limit.
// 0 if the system does not say.
uint64_t available_memory();

} // namespace eliza

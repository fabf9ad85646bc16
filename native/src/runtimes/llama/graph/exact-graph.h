// The exact window in llama.cpp's graph: writes a batch's rows and tells attention which keys it reads exactly.
#pragma once

#include <cstdint>

#include "exact-window.h"

class llama_kv_cache_context;
class llm_graph_result;
struct ggml_cgraph;
struct ggml_context;

// Where the graph of a batch is built, and what is the same for all its layers.
struct eliza_exact_build {
    ggml_context *context;
    ggml_cgraph *graph;
    llm_graph_result *result;
    const llama_kv_cache_context *cache;
    ggml_tensor *coded_mask;
    bool sliding_window;            // of a memory with two caches, the one with the window
    int64_t head_dim_k, head_dim_v; // of this layer
};

// k [head_dim, kv heads, tokens] and v as the cache gets them, NULL in layers that read another layer's. `input` is of
// all layers of one cache, made by the first of them.
eliza_exact_sources eliza_exact_store(const eliza_exact_build &build, eliza_exact_input *&input, ggml_tensor *k,
                                      ggml_tensor *v, int32_t layer);

void eliza_exact_add_sources(ggml_tensor *attention, const eliza_exact_sources &sources);

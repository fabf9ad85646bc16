// Learned maps in llama.cpp's graph: what build_attn and the K shift call when a context has one.
//
// K is stored as A (k − μ) and scored with A⁻ᵀ q; V is stored as B (v − ν), and B⁻¹ o + ν is given back after the head.
// Both are exact but for the coding: softmax does not see what is added to every key, and its weights sum to one.
#pragma once

#include <vector>

struct ggml_context;
struct ggml_tensor;

// float32, matrices [d, d, kv heads] with rows contiguous, means [d, kv heads]; all null where a side is not mapped.
struct eliza_kv_map_side {
    ggml_tensor *store = nullptr; // A, B
    ggml_tensor *read = nullptr;  // A⁻ᵀ for the query, B⁻¹ for the head's output
    ggml_tensor *mean = nullptr;  // μ, ν
};

struct eliza_kv_map_layer {
    eliza_kv_map_side k;
    eliza_kv_map_side v;
};

// By the model's layer; layers that share a cache point to the same entry.
struct eliza_kv_map {
    std::vector<const eliza_kv_map_layer *> layers;
};

// The sides that were mapped; llama.cpp's own rotation stays for the others.
struct eliza_kv_mapped {
    bool k = false;
    bool v = false;
};

// NULL without a map.
const eliza_kv_map_layer *eliza_kv_map_at(const eliza_kv_map *map, int layer);

// Replaces q [d, heads, tokens], k and v [d, kv heads, tokens] (NULL in layers that share a cache) by what the cache
// sees. Without a map nothing is touched.
eliza_kv_mapped eliza_kv_map_apply(ggml_context *ctx, const eliza_kv_map *map, int layer, ggml_tensor *&q,
                                   ggml_tensor *&k, ggml_tensor *&v);

// The head's output [d * heads, tokens] in the original basis.
ggml_tensor *eliza_kv_map_output(ggml_context *ctx, const eliza_kv_map *map, int layer, ggml_tensor *output);

// Of a K shift: stored keys [d, kv heads, cells] to the original basis, and back.
ggml_tensor *eliza_kv_map_unmap_keys(ggml_context *ctx, const eliza_kv_map_layer &layer, ggml_tensor *k);
ggml_tensor *eliza_kv_map_map_keys(ggml_context *ctx, const eliza_kv_map_layer &layer, ggml_tensor *k);

#pragma once

#include <cstdint>
#include <vector>

#include "exact-window.h"
#include "ggml.h"
#include "llama.h"

namespace eliza {

// One head's view of its queries and keys: contiguous float32 rows of head_dim values.
struct AttentionInput {
    const float *queries = nullptr; // [query_count][head_dim]
    const float *keys = nullptr;    // [key_count][head_dim]
    int64_t query_count = 0;
    int64_t key_count = 0;
    int64_t head_dim = 0;
    ggml_tensor *mask = nullptr; // float16 [key_count, >= query_count], as flash attention got it
    float scale = 1.0f;
    float softcap = 0.0f; // 0: none
    // Pairs that an exact window reads as f16 count nothing; positions of queries and keys are needed where there is one.
    eliza_exact_window exact;
    const llama_pos *query_positions = nullptr;
    const llama_pos *key_positions = nullptr;
};

// How much an error counts: with p the attention probability and w = p (1 − p) its slope,
struct AttentionWeights {
    std::vector<double> key;   // Σ over queries of w
    std::vector<double> query; // Σ over keys of w
    std::vector<double> value; // Σ over queries of p²
};

// Computes probabilities with ggml on this thread, so that masks and windows count as in the model. A soft-cap's slope counts
// in w.
AttentionWeights attention_weights(const AttentionInput &input);

} // namespace eliza

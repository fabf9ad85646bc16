// Parameters of the attention kernels, passed by value. Strides are bytes.
#pragma once
#include <stdint.h>

struct AttentionStrides {
    uint64_t row;  // from one position to the next
    uint64_t head; // from one KV head to the next
    uint64_t seq;
};

struct AttentionParams {
    uint32_t n_seq;
    uint32_t n_query;   // positions that ask, of one sequence
    uint32_t n_head;    // query heads
    uint32_t n_head_kv; // divides n_head
    uint32_t n_kv;
    uint32_t n_exact; // rows of the exact window, 0 without one
    uint32_t flags;
    uint32_t first_position; // of the first query, where CAUSAL or WINDOW count
    uint32_t window;         // positions that a query looks back on, itself included
    uint32_t max_parts;      // of a head in the workspace
    float scale;
    float soft_cap;
    float max_bias; // ALiBi
    uint32_t n_head_log2;
    AttentionStrides q, k, v, k_exact, v_exact;
    uint64_t mask_row, mask_seq, mask_exact_row, mask_exact_seq;

    static constexpr uint32_t MASK = 1, SINKS = 2, CAUSAL = 4, WINDOW = 8;
};

// Pointers of the attention kernels. Absent ones are null, or not read where their flag is not set.
struct AttentionSources {
    const uint8_t *q;                 // f32 [head_dim, n_query, n_head, n_seq]
    const uint8_t *k, *v;             // rows of a cache type
    const uint8_t *mask;              // f16 [n_kv, n_query, n_seq], added to the logits
    const float *sinks;               // [n_head]
    const uint8_t *k_exact, *v_exact; // f16 rows
    const uint8_t *mask_exact;        // f16 [n_exact, n_query, n_seq]
    const uint32_t *codebooks;        // int8 [6][512], by bits a symbol
    float *out;                       // f32 [head_dim, n_head, n_query, n_seq]
    uint8_t *workspace;               // a counter an item (zero before the first launch, and after each), then parts
};

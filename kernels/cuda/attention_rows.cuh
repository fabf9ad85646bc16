// Rows of queries, the logits' soft cap and mask, and which positions can be seen.
#pragma once
#include "attention_params.cuh"
#include "warp.cuh"

constexpr float LOG2_E = 1.4426950408889634f;
constexpr float HIDDEN = -1e30f;     // a score that no weight comes of
constexpr float LOWEST_MAX = -1e29f; // the maximum where everything is hidden

// A row of queries: a position and a head of an item.
struct QueryRow {
    uint32_t query, head;
    bool there;
};

DEVICE QueryRow query_row(const AttentionParams &p, uint32_t kv_head, uint32_t row) {
    const uint32_t group = p.n_head / p.n_head_kv;
    return {row / group, kv_head * group + row % group, row < p.n_query * group};
}

// ALiBi's factor on the mask of a head.
DEVICE float mask_slope(const AttentionParams &p, uint32_t head) {
    if (p.max_bias <= 0) return 1;
    const float n = (float)p.n_head_log2;
    return head < p.n_head_log2 ? exp2f(-p.max_bias / n * (head + 1))
                                : exp2f(-p.max_bias / 2 / n * (2 * (head - p.n_head_log2) + 1));
}

// The positions that any of the queries [first_query, last_query] may see: whole tiles of them are worked on.
struct VisibleRange {
    uint32_t first_tile, tiles;
};
template <int TOKENS>
DEVICE VisibleRange visible_range(const AttentionParams &p, uint32_t first_query, uint32_t last_query) {
    uint32_t begin = 0, end = p.n_kv;
    if (p.flags & AttentionParams::CAUSAL) {
        const uint32_t last = p.first_position + last_query + 1;
        end = last < end ? last : end;
    }
    if (p.flags & AttentionParams::WINDOW) {
        const uint32_t after = p.first_position + first_query + 1;
        begin = after > p.window ? after - p.window : 0;
    }
    const uint32_t first = begin / TOKENS, last = (end + TOKENS - 1) / TOKENS;
    return {first, last > first ? last - first : 1};
}

// The soft cap on a logit; both in units of log2.
DEVICE float logit(const AttentionParams &p, float x) {
    if (p.soft_cap == 0) return x;
    const float cap = p.soft_cap * LOG2_E;
    return cap * (1.0f - divide_fast(2.0f, exp2_fast(divide_fast(2.0f * LOG2_E, cap) * x) + 1.0f));
}

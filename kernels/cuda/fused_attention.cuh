// The fused kernels of elizaOS; kernels/portable/fused_attention.inc says how. Their files define V_FORMAT.
#pragma once
#include "portable.cuh"

#define K_FORMAT FORMAT_QJL1_256
static constexpr uint THREADS = 128, TOKENS = 32, HEAD_DIM = 128;
static constexpr uint HEADS = 4, MAX_HEADS = 4; // rows of queries that share a row of the cache
static constexpr float HIDDEN = -1e30f, LOWEST_MAX = -1e29f;
static constexpr uint SIDE_K = 0, SIDE_V = 1, SIDE_K_EXACT = 2, SIDE_V_EXACT = 3;

#include "../portable/cache_formats.inc"
#include "../portable/fused_attention_params.inc"

struct FusedAttention {
    const float *sketches;
    const uint16_t *keys, *values;
    float *result;
    const FusedAttentionParams &p;
    float *turned, *scratch, *weights, *maxima, *shrinks, *totals, *levels;
    uint *codebook_words; // no format here has any
    const uint *codebooks;

    float unit_values[16];
    float sums[HEADS * 16];
    uint kv_head, first_row;

    FN uint load(uint side, uint64_t pair) { return side == SIDE_K ? keys[pair] : values[pair]; }

#include "../portable/cache_rows.inc"
#include "../portable/rotation.inc"
#include "../portable/fused_attention.inc"
};

static __device__ __forceinline__ void fused_attention(const float *sketches, const uint16_t *keys,
                                                       const uint16_t *values, float *result,
                                                       const FusedAttentionParams &p) {
    __shared__ float turned[HEADS * 2 * HEAD_DIM];
    __shared__ float scratch[THREADS * 16];
    __shared__ float weights[HEADS * TOKENS];
    __shared__ float maxima[HEADS];
    __shared__ float shrinks[HEADS];
    __shared__ float totals[HEADS];
    __shared__ float levels[32];
    FusedAttention attention = {sketches, keys,   values,  result, p,       turned, scratch,
                                weights,  maxima, shrinks, totals, levels, nullptr, nullptr};
    attention.run_fused_attention();
}

#pragma once
// The fused kernels of elizaOS; kernels/portable/fused_attention.inc says how. Their files define V_FORMAT.
#include "portable.h"

#define K_FORMAT FORMAT_QJL1_256
constant uint THREADS = 128;
constant uint TOKENS = 32;
constant uint HEADS = 4; // rows of queries that share a row of the cache
constant uint MAX_HEADS = 4;
constant uint HEAD_DIM = 128;
constant float HIDDEN = -1e30f;
constant float LOWEST_MAX = -1e29f;
constant uint SIDE_K = 0, SIDE_V = 1, SIDE_K_EXACT = 2, SIDE_V_EXACT = 3;

#include "../portable/cache_formats.inc"
#include "../portable/fused_attention_params.inc"

struct FusedAttention {
    device const float *sketches;
    device const ushort *keys, *values;
    device float *result;
    constant FusedAttentionParams &p;
    uint thread_index, group_index;
    threadgroup float *turned, *scratch, *weights, *maxima, *shrinks, *totals, *levels;
    threadgroup uint *codebook_words; // no format here has any
    device const uint *codebooks;

    float unit_values[16];
    float sums[4 * 16];
    uint kv_head, first_row;

    uint load(uint side, ulong pair) { return side == SIDE_K ? keys[pair] : values[pair]; }

#include "../portable/cache_rows.inc"
#include "../portable/rotation.inc"
#include "../portable/fused_attention.inc"
};

static void fused_attention(device const float *sketches, device const ushort *keys, device const ushort *values,
                            device float *result, constant FusedAttentionParams &p, threadgroup float *memory,
                            uint thread_index, uint3 position) {
    threadgroup float *scratch = memory + HEADS * 2 * HEAD_DIM;
    threadgroup float *weights = scratch + THREADS * 16;
    threadgroup float *rows = weights + HEADS * TOKENS;
    FusedAttention attention = {sketches, keys,    values,  result, p,
                                thread_index, position.x, memory, scratch, weights,
                                rows,     rows + HEADS, rows + 2 * HEADS, rows + 3 * HEADS, nullptr,
                                nullptr};
    attention.run_fused_attention();
}

// Attention over cached rows; kernels/portable/attention.inc says how. A pipeline is specialised for its pair of
// formats and its head size.
#include "portable.h"

constant uint HEADS [[function_constant(2)]]; // rows of queries that share a row of the cache
constant uint K_FORMAT [[function_constant(3)]];
constant uint V_FORMAT [[function_constant(4)]];
constant uint HEAD_DIM [[function_constant(5)]];
constant uint THREADS = 128;
constant uint TOKENS = 32;
constant uint MAX_HEADS = 8; // a function constant cannot size an array
constant float HIDDEN = -1e30f;
constant float LOWEST_MAX = -1e29f;
constant uint SIDE_K = 0, SIDE_V = 1, SIDE_K_EXACT = 2, SIDE_V_EXACT = 3, SIDE_MASK = 4, SIDE_MASK_EXACT = 5;

#include "../portable/cache_formats.inc"
#include "../portable/attention_params.inc"

struct Attention {
    device const float *queries;
    device const ushort *keys, *values, *mask;
    device const float *sinks;
    device const ushort *exact_keys, *exact_values, *exact_mask;
    device const uint *codebooks; // int8 [6][512], by bits a symbol
    device float *result, *workspace;
    constant AttentionParams &p;
    uint thread_index, group_index, group_count;
    threadgroup float *turned, *scratch, *weights, *maxima, *shrinks, *totals, *levels;
    threadgroup uint *codebook_words;

    float unit_values[16];
    float sums[8 * 16];
    uint group_size, chunks, items, first_tile, end_token, tiles, share;
    ulong parts_begin;
    uint item, item_seq, item_kv_head, item_row, first_group, parts;

    uint load(uint side, ulong pair) {
        if (side == SIDE_K) return keys[pair];
        if (side == SIDE_V) return values[pair];
        if (side == SIDE_K_EXACT) return exact_keys[pair];
        if (side == SIDE_V_EXACT) return exact_values[pair];
        return side == SIDE_MASK ? mask[pair] : exact_mask[pair];
    }

#include "../portable/cache_rows.inc"
#include "../portable/rotation.inc"
#include "../portable/attention.inc"
};

kernel void eliza_attention(device const float *queries [[buffer(0)]],
                            device const ushort *keys [[buffer(1)]],
                            device const ushort *values [[buffer(2)]],
                            device const ushort *mask [[buffer(3)]],
                            device const float *sinks [[buffer(4)]],
                            device const ushort *exact_keys [[buffer(5)]],
                            device const ushort *exact_values [[buffer(6)]],
                            device const ushort *exact_mask [[buffer(7)]],
                            device const uint *codebooks [[buffer(8)]],
                            device float *result [[buffer(9)]],
                            device float *workspace [[buffer(10)]],
                            constant AttentionParams &params [[buffer(11)]],
                            threadgroup float *memory [[threadgroup(0)]],
                            uint thread_index [[thread_index_in_threadgroup]],
                            uint3 position [[threadgroup_position_in_grid]],
                            uint3 groups [[threadgroups_per_grid]]) {
    threadgroup float *scratch = memory + HEADS * HEAD_DIM;
    threadgroup float *weights = scratch + THREADS * 16;
    threadgroup float *rows = weights + HEADS * TOKENS;
    threadgroup float *levels = rows + 3 * HEADS;
    Attention attention = {queries,      keys,       values,    mask,
                           sinks,        exact_keys, exact_values, exact_mask,
                           codebooks,    result,     workspace, params,
                           thread_index, position.x, groups.x,  memory,
                           scratch,      weights,    rows,      rows + HEADS,
                           rows + 2 * HEADS, levels, (threadgroup uint *)(levels + 32)};
    attention.run_attention();
}

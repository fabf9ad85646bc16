#version 450
#extension GL_GOOGLE_include_directive : require
// Attention over cached rows; kernels/portable/attention.inc says how. A pipeline is specialised for its pair of
// formats and its head size.
#include "portable.glsl"
#define THREADS 128u
#define TOKENS 32u
layout(local_size_x = 128) in;
layout(constant_id = 2) const uint HEADS = 4; // rows of queries that share a row of the cache
layout(constant_id = 3) const uint K_FORMAT = 96;
layout(constant_id = 4) const uint V_FORMAT = 96;
layout(constant_id = 5) const uint HEAD_DIM = 128;
#define MAX_HEADS HEADS
const float HIDDEN = -1e30;
const float LOWEST_MAX = -1e29;

#include "../portable/cache_formats.inc"
#include "../portable/attention_params.inc"

layout(std430, binding = 0) readonly buffer Queries { float queries[]; };
layout(std430, binding = 1) readonly buffer Keys { uint16_t keys[]; };
layout(std430, binding = 2) readonly buffer Values { uint16_t values[]; };
layout(std430, binding = 3) readonly buffer Mask { uint16_t mask[]; };
layout(std430, binding = 4) readonly buffer Sinks { float sinks[]; };
layout(std430, binding = 5) readonly buffer ExactKeys { uint16_t exact_keys[]; };
layout(std430, binding = 6) readonly buffer ExactValues { uint16_t exact_values[]; };
layout(std430, binding = 7) readonly buffer ExactMask { uint16_t exact_mask[]; };
layout(std430, binding = 8) readonly buffer Codebooks { uint codebooks[]; }; // int8 [6][512], by bits a symbol
layout(std430, binding = 9) writeonly buffer Result { float result[]; };
layout(std430, binding = 10) buffer Workspace { float workspace[]; };
layout(std430, binding = 11) readonly buffer Params { AttentionParams p; };

const uint SIDE_K = 0, SIDE_V = 1, SIDE_K_EXACT = 2, SIDE_V_EXACT = 3, SIDE_MASK = 4, SIDE_MASK_EXACT = 5;
uint load(uint side, uint pair) {
    if (side == SIDE_K) return uint(keys[pair]);
    if (side == SIDE_V) return uint(values[pair]);
    if (side == SIDE_K_EXACT) return uint(exact_keys[pair]);
    if (side == SIDE_V_EXACT) return uint(exact_values[pair]);
    if (side == SIDE_MASK) return uint(mask[pair]);
    return uint(exact_mask[pair]);
}

shared float turned[HEADS * HEAD_DIM];
shared float scratch[THREADS * 16];
shared float weights[HEADS * TOKENS];
shared float maxima[HEADS], shrinks[HEADS], totals[HEADS];
shared float levels[32];
shared uint codebook_words[768];
float unit_values[16];
float sums[HEADS * 16];
uint group_size, chunks, items, first_tile, end_token, tiles, share, parts_begin;
uint item, item_seq, item_kv_head, item_row, first_group, parts;

#include "../portable/cache_rows.inc"
#include "../portable/rotation.inc"
#include "../portable/attention.inc"

void main() { run_attention(); }

// The fused kernels of elizaOS; kernels/portable/fused_attention.inc says how. Their files define V_FORMAT.
#include "portable.glsl"
#define THREADS 128u
#define TOKENS 32u
#define HEADS 4u // rows of queries that share a row of the cache
#define MAX_HEADS HEADS
#define HEAD_DIM 128u
#define K_FORMAT FORMAT_QJL1_256
layout(local_size_x = 128) in;
const float HIDDEN = -1e30;
const float LOWEST_MAX = -1e29;

#include "../portable/cache_formats.inc"
#include "../portable/fused_attention_params.inc"

layout(std430, binding = 0) readonly buffer Sketches { float sketches[]; };
layout(std430, binding = 1) readonly buffer Keys { uint16_t keys[]; };
layout(std430, binding = 2) readonly buffer Values { uint16_t values[]; };
layout(std430, binding = 3) writeonly buffer Result { float result[]; };
layout(push_constant) uniform Params { FusedAttentionParams p; };

const uint SIDE_K = 0, SIDE_V = 1, SIDE_K_EXACT = 2, SIDE_V_EXACT = 3;
uint load(uint side, uint pair) { return side == SIDE_K ? uint(keys[pair]) : uint(values[pair]); }

shared float turned[HEADS * 2 * HEAD_DIM];
shared float scratch[THREADS * 16];
shared float weights[HEADS * TOKENS];
shared float maxima[HEADS], shrinks[HEADS], totals[HEADS];
shared float levels[32];
const uint codebooks[1] = {0}; // no format here has any
uint codebook_words[1];
float unit_values[16];
float sums[HEADS * 16];
uint kv_head, first_row;

#include "../portable/cache_rows.inc"
#include "../portable/rotation.inc"
#include "../portable/fused_attention.inc"

void main() { run_fused_attention(); }

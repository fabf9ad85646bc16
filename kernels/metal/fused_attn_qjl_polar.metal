// qjl1_256 keys, q4_polar values.
#define V_FORMAT FORMAT_Q4_POLAR
#define READS_RESIDUAL (p.use_qjl != 0u)
#include "fused_attention.h"

kernel void eliza_fused_attn_qjl_polar(device const float *sketches [[buffer(0)]],
                                    device const ushort *keys [[buffer(1)]],
                                    device const ushort *values [[buffer(2)]],
                                    device float *result [[buffer(3)]],
                                    constant FusedAttentionParams &params [[buffer(4)]],
                                    threadgroup float *memory [[threadgroup(0)]],
                                    uint thread_index [[thread_index_in_threadgroup]],
                                    uint3 position [[threadgroup_position_in_grid]]) {
    fused_attention(sketches, keys, values, result, params, memory, thread_index, position);
}

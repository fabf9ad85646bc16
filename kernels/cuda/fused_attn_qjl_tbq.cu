// qjl1_256 keys, tbq3 values.
#define V_FORMAT FORMAT_TBQ3
#include "fused_attention.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
    eliza_fused_attn_qjl_tbq(const float *sketches, const uint16_t *keys, const uint16_t *values, float *result,
                            const __grid_constant__ FusedAttentionParams params) {
    fused_attention(sketches, keys, values, result, params);
}

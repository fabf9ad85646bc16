// qjl1_256 keys, q4_polar values.
#define V_FORMAT FORMAT_Q4_POLAR
#define READS_RESIDUAL (p.use_qjl != 0u)
#include "fused_attention.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
    eliza_fused_attn_qjl_polar(const float *sketches, const uint16_t *keys, const uint16_t *values, float *result,
                            const __grid_constant__ FusedAttentionParams params) {
    fused_attention(sketches, keys, values, result, params);
}

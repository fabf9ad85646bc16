// out[i] = row ids[i] of a matrix of qjl1_256 rows, the signs taken back through the projection. A block decodes one
// block of 128 values.
#include "qjl.cuh"
#include "params.cuh"

extern "C" __global__ void __launch_bounds__(128)
    eliza_qjl_get_rows(const uint8_t *rows, const uint32_t *ids, float *result, const float *projection,
                       MatrixParams p) { // projection: [128][256]
    const uint32_t t = blockIdx.y;
    const uint32_t at = ids[blockIdx.x] * p.row_stride;
    for (uint32_t i = threadIdx.x; i < 128; i += blockDim.x) {
        float sum = 0, scale = 0;
        for (uint32_t unit = 0; unit < 16; unit++) {
            float signs[16];
            scale = Qjl::decode({}, {}, p.flags, rows, at, t * 16 + unit, signs);
            const float *column = projection + i * 256 + unit * 16;
            sum += dot8(signs, column) + dot8(signs + 8, column + 8);
        }
        result[blockIdx.x * p.n_cols + t * 128 + i] = scale * sum;
    }
}

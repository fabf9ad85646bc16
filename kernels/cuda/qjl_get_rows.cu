// out[i] = row ids[i] of a matrix of qjl1_256 rows, the signs taken back through the projection. A block decodes one
// block of 128 values.
#include "qjl.cuh"
#include "score.cuh"

extern "C" __global__ void __launch_bounds__(128)
    eliza_qjl_get_rows(const uint8_t *rows, const uint32_t *ids, float *result, const float *projection,
                       MatrixParams p) { // projection: [128][256]
    __shared__ uint32_t row_slice[SLICE_WORDS];
    const uint32_t first = blockIdx.y * SLICE;
    const uint8_t *from = rows + (size_t)ids[blockIdx.x] * p.row_stride + Qjl::offset({}, first);
    for (uint32_t word = threadIdx.x; word < 9; word += blockDim.x)
        row_slice[word] = load_word(from + word * 4, 34 - word * 4);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < SLICE; i += blockDim.x) {
        float sum = 0, scale = 0;
        for (uint32_t unit = 0; unit < 16; unit++) {
            float signs[16];
            scale = Qjl::decode({}, {}, p.flags, row_slice, 0, 0, unit, signs);
            const float *column = projection + i * 256 + unit * 16;
            sum += dot8(signs, column) + dot8(signs + 8, column + 8);
        }
        result[blockIdx.x * p.n_cols + first + i] = scale * sum;
    }
}

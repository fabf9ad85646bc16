// out[i] = row ids[i] of a matrix of q4_polar rows, decoded to the original basis. A block decodes one tile.
#include "polar.cuh"
#include "hadamard.cuh"
#include "params.cuh"

extern "C" __global__ void __launch_bounds__(128)
    eliza_polar_get_rows(const uint8_t *rows, const uint32_t *ids, float *result, MatrixParams p) {
    __shared__ Polar::Shared shared;
    __shared__ uint32_t row_slice[SLICE_WORDS];
    __shared__ float tile[1][SLICE];
    const uint32_t first = blockIdx.y * SLICE;
    const uint8_t *from = rows + (size_t)ids[blockIdx.x] * p.row_stride + Polar::offset({}, first);
    Polar::stage({}, shared);
    for (uint32_t word = threadIdx.x; word < 21; word += blockDim.x)
        row_slice[word] = load_word(from + word * 4, 82 - word * 4);
    __syncthreads();
    for (uint32_t unit = threadIdx.x; unit < 8; unit += blockDim.x) {
        float v[16];
        const float scale = Polar::decode({}, shared, p.flags, row_slice, 0, 0, unit, v);
        for (uint32_t i = 0; i < 16; i++) tile[0][unit * 16 + i] = scale * v[i];
    }
    __syncthreads();
    hadamard_slices<1>(tile);
    for (uint32_t i = threadIdx.x; i < SLICE; i += blockDim.x) result[blockIdx.x * p.n_cols + first + i] = tile[0][i];
}

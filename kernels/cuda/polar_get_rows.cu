// out[i] = row ids[i] of a matrix of q4_polar rows, decoded to the original basis. A block decodes one tile.
#include "polar.cuh"
#include "hadamard.cuh"
#include "params.cuh"

extern "C" __global__ void __launch_bounds__(128)
    eliza_polar_get_rows(const uint8_t *rows, const uint32_t *ids, float *result, MatrixParams p) {
    __shared__ Polar::Shared shared;
    __shared__ float tile[128];
    const uint32_t t = blockIdx.y;
    Polar::stage({}, shared);
    __syncthreads();
    for (uint32_t unit = threadIdx.x; unit < 8; unit += blockDim.x) {
        float v[16];
        const float scale = Polar::decode({}, shared, p.flags, rows, ids[blockIdx.x] * p.row_stride, t * 8 + unit, v);
        for (uint32_t i = 0; i < 16; i++) tile[unit * 16 + i] = scale * v[i];
    }
    hadamard_tile(tile);
    for (uint32_t i = threadIdx.x; i < 128; i += blockDim.x) result[blockIdx.x * p.n_cols + t * 128 + i] = tile[i];
}

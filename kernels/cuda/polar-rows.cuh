// Products of q4_polar rows with one query in the original basis: H128 is its own transpose, so it is applied once
// to each tile of the query rather than to every row.
#pragma once
#include "polar.cuh"
#include "hadamard.cuh"

// Row `at` (a byte offset) times the query; the product is whole on the first thread of the row's team.
template <uint32_t ROWS>
static __device__ __forceinline__ float polar_row(const uint8_t *__restrict__ rows, uint32_t at, bool valid,
                                                  const float *__restrict__ query, uint32_t tiles, uint32_t flags) {
    using T = Team<ROWS>;
    __shared__ Polar::Shared shared;
    __shared__ float tile[128];
    Polar::stage({}, shared);
    float sum = 0;
    for (uint32_t t = 0; t < tiles; t++) {
        __syncthreads(); // the tile before has been read
        for (uint32_t i = threadIdx.x; i < 128; i += T::THREADS) tile[i] = query[t * 128 + i];
        hadamard_tile(tile);
        if (valid) {
            for (uint32_t unit = T::lane(); unit < 8; unit += T::SIZE) {
                float v[16];
                const float scale = Polar::decode({}, shared, flags, rows, at, t * 8 + unit, v);
                float dot = 0;
#pragma unroll
                for (uint32_t i = 0; i < 16; i++) dot += v[i] * tile[unit * 16 + i];
                sum += scale * dot;
            }
        }
    }
    return team_sum<ROWS>(sum);
}

// H128 in shared memory, natural order, no factor. Called by the whole block, at any size.
#pragma once
#include <stdint.h>

static __device__ __forceinline__ void hadamard_tile(float *tile) {
    for (uint32_t step = 1; step < 128; step *= 2) {
        __syncthreads();
        for (uint32_t pair = threadIdx.x; pair < 64; pair += blockDim.x) {
            const uint32_t low = (pair / step) * 2 * step + pair % step;
            const float a = tile[low], b = tile[low + step];
            tile[low] = a + b;
            tile[low + step] = a - b;
        }
    }
    __syncthreads();
}

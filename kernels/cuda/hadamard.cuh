// H128 in shared memory, natural order, no factor, of COUNT tiles. Called by the whole block, at any size.
#pragma once
#include <stdint.h>

template <uint32_t COUNT, uint32_t LENGTH>
static __device__ __forceinline__ void hadamard_slices(float (*tiles)[LENGTH]) {
    for (uint32_t step = 1; step < 128; step *= 2) {
        for (uint32_t i = threadIdx.x; i < COUNT * 64; i += blockDim.x) {
            const uint32_t pair = i % 64;
            float *low = tiles[i / 64] + (pair / step) * 2 * step + pair % step;
            const float a = low[0], b = low[step];
            low[0] = a + b;
            low[step] = a - b;
        }
        __syncthreads();
    }
}

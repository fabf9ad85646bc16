// Tiles of 128 values in shared memory, one a thread, to the coded basis.
#pragma once
#include "encode_sums.cuh"

static __device__ const uint32_t ENCODE_SIGNS_32[1] = {
#include "../tables/signs-32.inc"
};
static __device__ const uint32_t ENCODE_SIGNS_1[4] = {
#include "../tables/signs-1.inc"
};
static __device__ const uint32_t ENCODE_SIGNS_2[4] = {
#include "../tables/signs-2.inc"
};

DEVICE_INLINE float signed_by(float x, uint32_t mask, uint32_t bit) { return mask >> bit & 1 ? x : -x; }

// By 128 threads: z[i] of runs of `width` values, H/sqrt(width) with the signs before and, from 64 on, after it.
DEVICE_INLINE void rotate_run(float *z, int width) {
    const int i = threadIdx.x, at = i % width;
    const uint32_t *before = width == 32 ? ENCODE_SIGNS_32 : ENCODE_SIGNS_1;
    z[i] = signed_by(z[i], before[at / 32], at % 32);
    __syncthreads();
    for (int h = 1; h < width; h *= 2) {
        const float mine = z[i], other = z[i ^ h];
        __syncthreads();
        z[i] = i & h ? add(other, -mine) : add(mine, other);
        __syncthreads();
    }
    const float factor = width == 32 ? 0.17677669529663689f : width == 64 ? 0.125f : 0.088388347648318447f;
    float x = multiply(z[i], factor);
    if (width > 32) x = signed_by(x, ENCODE_SIGNS_2[at / 32], at % 32);
    z[i] = x;
    __syncthreads();
}

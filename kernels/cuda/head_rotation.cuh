// The signed Hadamard rotations of tiles of 32, 64 or 128 values. A warp holds a head: value d at lane d % 32.
#pragma once
#include "warp.cuh"

static __device__ const uint32_t ROTATION_SIGNS_32[1] = {
#include "../tables/signs-32.inc"
};
static __device__ const uint32_t ROTATION_SIGNS_1[4] = {
#include "../tables/signs-1.inc"
};
static __device__ const uint32_t ROTATION_SIGNS_2[4] = {
#include "../tables/signs-2.inc"
};

DEVICE float with_sign(float x, uint32_t mask, int lane) {
    return __uint_as_float(__float_as_uint(x) ^ (((~mask >> lane) & 1u) << 31));
}

// H of each run of `width` values, natural order, no factor. N registers a lane.
template <int N> DEVICE void hadamard_lanes(float (&x)[N], int width, int lane) {
#pragma unroll
    for (int i = 0; i < N; i++)
#pragma unroll
        for (int h = 1; h < 32; h *= 2) {
            const float other = __shfl_xor_sync(~0u, x[i], h);
            x[i] = lane & h ? other - x[i] : x[i] + other;
        }
#pragma unroll
    for (int h = 1; h < width / 32; h *= 2)
#pragma unroll
        for (int i = 0; i < N; i++) {
            if (i & h) continue;
            const float a = x[i], b = x[i | h];
            x[i] = a + b;
            x[i | h] = a - b;
        }
}

// Original to coded basis (forward), or back. `width` is the tile's.
template <int N> DEVICE void rotate_tiles(float (&x)[N], int width, int lane, bool forward) {
    const int words = width / 32;
    const float factor = width == 32 ? 0.17677669529663689f : width == 64 ? 0.125f : 0.088388347648318447f;
    const uint32_t *before = width == 32 ? ROTATION_SIGNS_32 : forward ? ROTATION_SIGNS_1 : ROTATION_SIGNS_2;
    const uint32_t *after = width == 32 ? ROTATION_SIGNS_32 : forward ? ROTATION_SIGNS_2 : ROTATION_SIGNS_1;
    if (width > 32 || forward)
#pragma unroll
        for (int i = 0; i < N; i++) x[i] = with_sign(x[i], before[i % words], lane);
    hadamard_lanes<N>(x, width, lane);
#pragma unroll
    for (int i = 0; i < N; i++) {
        x[i] *= factor;
        if (width > 32 || !forward) x[i] = with_sign(x[i], after[i % words], lane);
    }
}

// q4_polar: 82 bytes for 128 values, an fp16 length, 64 bytes of nibbles (low one first), a residual's sign.
// Decoded values are in the basis of the Hadamard transform H128.
#pragma once
#include "query.cuh"

static __device__ const float POLAR_CENTROIDS[16] = {
#include "../tables/q4-polar-centroids.inc"
};
static __device__ const uint32_t RESIDUAL_SIGNS[4] = {
#include "../tables/signs-residual.inc"
};

struct Polar {
    static constexpr uint32_t QUERY_PER_VALUE = 1;
    static constexpr uint32_t USE_RESIDUAL = 1;                       // flag
    static constexpr float RESIDUAL_STEP = 0.04419417382415922f;      // 0.5 / sqrt(128)
    struct Source {};
    struct Shared {
        float levels[16];
    };

    static __device__ __forceinline__ void stage(const Source &, Shared &shared) {
        for (uint32_t i = threadIdx.x; i < 16; i += blockDim.x) shared.levels[i] = POLAR_CENTROIDS[i];
    }

    static __device__ __forceinline__ uint32_t place(uint32_t unit, uint32_t half) { return unit * 16 + half * 8; }

    static __device__ __forceinline__ float decode(const Source &, const Shared &shared, uint32_t flags,
                                                   const uint8_t *__restrict__ rows, uint32_t at, uint32_t unit, float *v) {
        const uint32_t block = at + (unit / 8) * 82;
        const uint32_t codes = block + 2 + (unit % 8) * 8;
#pragma unroll
        for (uint32_t i = 0; i < 4; i++) {
            const uint32_t four = load16(rows, codes + 2 * i);
            v[4 * i] = shared.levels[four & 15];
            v[4 * i + 1] = shared.levels[(four >> 4) & 15];
            v[4 * i + 2] = shared.levels[(four >> 8) & 15];
            v[4 * i + 3] = shared.levels[four >> 12];
        }
        if (flags & USE_RESIDUAL) {
            const float residual = load16(rows, block + 66) & 1 ? RESIDUAL_STEP : -RESIDUAL_STEP;
            const uint32_t signs = RESIDUAL_SIGNS[(unit % 8) / 2] >> ((unit % 2) * 16);
#pragma unroll
            for (uint32_t i = 0; i < 16; i++) v[i] += (signs >> i) & 1 ? residual : -residual;
        }
        return half_at(rows, block) * (1.0f / 128.0f);
    }
};

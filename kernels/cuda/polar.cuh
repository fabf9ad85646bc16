// q4_polar: 82 bytes for 128 values, an fp16 length, 64 bytes of nibbles (low one first), a residual's sign.
// Decoded values are in the basis of the Hadamard transform H128.
#pragma once
#include "rows.cuh"

static __device__ const float POLAR_CENTROIDS[16] = {
#include "../tables/q4-polar-centroids.inc"
};
static __device__ const uint32_t RESIDUAL_SIGNS[4] = {
#include "../tables/signs-residual.inc"
};

struct Polar {
    static constexpr uint32_t QUERY_PER_VALUE = 1;
    static constexpr bool TURNS_QUERY = false;
    static constexpr uint32_t USE_RESIDUAL = 1;                  // flag
    static constexpr float RESIDUAL_STEP = 0.04419417382415922f; // 0.5 / sqrt(128)
    struct Source {};
    struct Shared {
        float levels[16];
    };

    static __device__ __forceinline__ void stage(const Source &, Shared &shared) {
        for (uint32_t i = threadIdx.x; i < 16; i += blockDim.x) shared.levels[i] = POLAR_CENTROIDS[i];
    }

    static __device__ __forceinline__ uint32_t place(uint32_t unit, uint32_t half) { return unit * 16 + half * 8; }

    static __device__ __forceinline__ uint32_t offset(const Source &, uint32_t value) { return value / 128 * 82; }

    static __device__ __forceinline__ float decode(const Source &, const Shared &shared, uint32_t flags,
                                                   const uint32_t *row, uint32_t, uint32_t, uint32_t unit, float *v) {
        const uint32_t codes = 2 + unit * 8;
#pragma unroll
        for (uint32_t i = 0; i < 4; i++) {
            const uint32_t four = load16(row, codes + 2 * i);
            v[4 * i] = shared.levels[four & 15];
            v[4 * i + 1] = shared.levels[(four >> 4) & 15];
            v[4 * i + 2] = shared.levels[(four >> 8) & 15];
            v[4 * i + 3] = shared.levels[four >> 12];
        }
        if (flags & USE_RESIDUAL) {
            const float residual = load16(row, 66) & 1 ? RESIDUAL_STEP : -RESIDUAL_STEP;
            const uint32_t signs = RESIDUAL_SIGNS[unit / 2] >> ((unit % 2) * 16);
#pragma unroll
            for (uint32_t i = 0; i < 16; i++) v[i] += (signs >> i) & 1 ? residual : -residual;
        }
        return half_at(row, 0) * (1.0f / 128.0f);
    }
};

// The same for a query in the original basis: H128 is its own transpose, so it is applied once to each slice of the
// query rather than to every row.
struct PolarOriginal : Polar {
    static constexpr bool TURNS_QUERY = true;
};

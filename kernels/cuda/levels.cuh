// Formats of blocks of 32 values that share a scale and whose codes are places in a table of levels.
#pragma once
#include "score.cuh"

// What such a Format has beside `decode` and a `stage` that names its table; score.cuh says what each is for.
template <uint32_t LEVELS, uint32_t BLOCK_BYTES> struct LevelFormat {
    static constexpr uint32_t QUERY_PER_VALUE = 1;
    static constexpr bool TURNS_QUERY = false;
    struct Source {};
    struct Shared {
        float levels[LEVELS];
    };

    static __device__ __forceinline__ void stage_levels(const float *table, Shared &shared) {
        for (uint32_t i = threadIdx.x; i < LEVELS; i += blockDim.x) shared.levels[i] = table[i];
    }

    static __device__ __forceinline__ uint32_t offset(const Source &, uint32_t value) {
        return value / 32 * BLOCK_BYTES;
    }

    static __device__ __forceinline__ uint32_t place(uint32_t unit, uint32_t half) { return unit * 16 + half * 8; }
};

// turbo4: 18 bytes for 32 values, an fp16 scale and 16 bytes whose low nibbles come first.
#include "levels.cuh"

static __device__ const float TURBO4_CENTROIDS[16] = {
#include "../tables/turbo4-centroids.inc"
};

struct Turbo4 : LevelFormat<16, 18> {
    static __device__ __forceinline__ void stage(const Source &, Shared &shared) {
        stage_levels(TURBO4_CENTROIDS, shared);
    }

    static __device__ __forceinline__ uint32_t place(uint32_t unit, uint32_t half) {
        return (unit / 2) * 32 + (unit % 2) * 8 + half * 16;
    }

    static __device__ __forceinline__ float decode(const Source &, const Shared &shared, uint32_t, const uint32_t *row,
                                                   uint32_t, uint32_t, uint32_t unit, float *v) {
        const uint32_t block = (unit / 2) * 18;
        const uint32_t codes = block + 2 + (unit % 2) * 8;
#pragma unroll
        for (uint32_t i = 0; i < 4; i++) {
            const uint32_t pair = load16(row, codes + 2 * i);
            v[2 * i] = shared.levels[pair & 15];
            v[2 * i + 1] = shared.levels[(pair >> 8) & 15];
            v[2 * i + 8] = shared.levels[(pair >> 4) & 15];
            v[2 * i + 9] = shared.levels[pair >> 12];
        }
        return half_at(row, block);
    }
};

ELIZA_FOR_ROWS_AND_HEADS(ELIZA_SCORE_KERNEL, eliza_turbo4_score, Turbo4)

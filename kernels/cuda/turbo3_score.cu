// turbo3: 14 bytes for 32 values, the block's own fp16 norm, 8 bytes of low bit pairs, 4 bytes of high bits.
#include "levels.cuh"

static __device__ const float TURBO3_CENTROIDS[8] = {
#include "../tables/turbo3-centroids.inc"
};

struct Turbo3 : LevelFormat<8, 14> {
    static __device__ __forceinline__ void stage(const Source &, Shared &shared) {
        stage_levels(TURBO3_CENTROIDS, shared);
    }

    static __device__ __forceinline__ float decode(const Source &, const Shared &shared, uint32_t, const uint32_t *row,
                                                   uint32_t, uint32_t, uint32_t unit, float *v) {
        const uint32_t block = (unit / 2) * 14;
        const uint32_t low = load32(row, block + 2 + (unit % 2) * 4);
        const uint32_t high = load16(row, block + 10 + (unit % 2) * 2);
#pragma unroll
        for (uint32_t i = 0; i < 16; i++) v[i] = shared.levels[((low >> (2 * i)) & 3) | (((high >> i) & 1) << 2)];
        return half_at(row, block);
    }
};

ELIZA_FOR_ROWS_AND_HEADS(ELIZA_SCORE_KERNEL, eliza_turbo3_score, Turbo3)

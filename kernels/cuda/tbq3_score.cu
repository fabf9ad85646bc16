// tbq3: 14 bytes for 32 values, an fp16 scale and a stream of 3-bit codes, lowest bit first.
#include "levels.cuh"

static __device__ const float TBQ3_CENTROIDS[8] = {
#include "../tables/tbq3-centroids.inc"
};

struct Tbq3 : LevelFormat<8, 14> {
    static __device__ __forceinline__ void stage(const Source &, Shared &shared) {
        stage_levels(TBQ3_CENTROIDS, shared);
    }

    static __device__ __forceinline__ float decode(const Source &, const Shared &shared, uint32_t, const uint32_t *row,
                                                   uint32_t, uint32_t, uint32_t unit, float *v) {
        const uint32_t block = (unit / 2) * 14;
        const uint32_t codes = block + 2 + (unit % 2) * 6; // sixteen codes are 48 bits
        const uint32_t first = load32(row, codes);
        const uint32_t second = (first >> 24) | (load16(row, codes + 4) << 8);
#pragma unroll
        for (uint32_t i = 0; i < 8; i++) {
            v[i] = shared.levels[(first >> (3 * i)) & 7];
            v[i + 8] = shared.levels[(second >> (3 * i)) & 7];
        }
        return half_at(row, block);
    }
};

ELIZA_FOR_ROWS_AND_HEADS(ELIZA_SCORE_KERNEL, eliza_tbq3_score, Tbq3)

// tbq3: 14 bytes for 32 values, an fp16 scale and a stream of 3-bit codes, lowest bit first.
#include "score.h"

constant float TBQ3_CENTROIDS[8] = {
#include "../tables/tbq3-centroids.inc"
};

struct Tbq3 {
    enum : uint { QUERY_PER_VALUE = 1, SHARED_FLOATS = 8 };
    struct Source {};

    static void stage(Source, threadgroup float *levels, uint thread_index) {
        for (uint i = thread_index; i < 8; i += THREADS) levels[i] = TBQ3_CENTROIDS[i];
    }

    static uint2 places(uint unit) { return uint2(unit * 16, unit * 16 + 8); }

    static float decode(Source, threadgroup const float *levels, uint, device const ushort *rows, uint at,
                        uint unit, thread float *v) {
        const uint block = at + (unit / 2) * 14;
        const uint codes = block + 2 + (unit % 2) * 6; // sixteen codes are 48 bits
        const uint first = load32(rows, codes);
        const uint second = (first >> 24) | (load16(rows, codes + 4) << 8);
        for (uint i = 0; i < 8; i++) {
            v[i] = levels[(first >> (3 * i)) & 7];
            v[i + 8] = levels[(second >> (3 * i)) & 7];
        }
        return half_at(rows, block);
    }
};

kernel void eliza_tbq3_score(device const ushort *rows [[buffer(0)]],
                        device const float4 *queries [[buffer(1)]],
                        device float *scores [[buffer(2)]],
                        constant ScoreParams &params [[buffer(3)]],
                        threadgroup float *memory [[threadgroup(0)]],
                        uint thread_index [[thread_index_in_threadgroup]],
                        uint3 position [[threadgroup_position_in_grid]]) {
    const ScoreParams p = params;
    score<Tbq3>(rows, queries, scores, {}, p, memory, thread_index, position);
}

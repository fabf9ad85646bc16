// tbq3: 14 bytes for 32 values, an fp16 scale and a stream of 3-bit codes, lowest bit first.
#include "score.h"

constant float TBQ3_CENTROIDS[8] = {
#include "../tables/tbq3-centroids.inc"
};

struct Tbq3 {
    enum : uint { QUERY_PER_VALUE = 1, TURNS_QUERY = 0, SHARED_WORDS = 8 };
    struct Source {};

    static void stage(Source, threadgroup uint *memory, uint thread_index) {
        threadgroup float *levels = (threadgroup float *)memory;
        for (uint i = thread_index; i < 8; i += THREADS) levels[i] = TBQ3_CENTROIDS[i];
    }

    static uint offset(Source, uint value) { return value / 32 * 14; }

    static uint2 places(uint unit) { return uint2(unit * 16, unit * 16 + 8); }

    static float decode(Source, threadgroup const uint *memory, uint, threadgroup const uint *row, uint, uint,
                        uint unit, thread float *v) {
        threadgroup const float *levels = (threadgroup const float *)memory;
        const uint block = (unit / 2) * 14;
        const uint codes = block + 2 + (unit % 2) * 6; // sixteen codes are 48 bits
        const uint first = load32(row, codes);
        const uint second = (first >> 24) | (load16(row, codes + 4) << 8);
        for (uint i = 0; i < 8; i++) {
            v[i] = levels[(first >> (3 * i)) & 7];
            v[i + 8] = levels[(second >> (3 * i)) & 7];
        }
        return half_at(row, block);
    }
};

kernel void eliza_tbq3_score(device const ushort *rows [[buffer(0)]],
                        device const float *queries [[buffer(1)]],
                        device float *scores [[buffer(2)]],
                        constant ScoreParams &params [[buffer(3)]],
                        threadgroup uint *memory [[threadgroup(0)]],
                        uint thread_index [[thread_index_in_threadgroup]],
                        uint3 position [[threadgroup_position_in_grid]]) {
    score<Tbq3>(rows, queries, scores, {}, params, memory, thread_index, position);
}

// turbo4: 18 bytes for 32 values, an fp16 scale and 16 bytes whose low nibbles come first.
#include "score.h"

constant float TURBO4_CENTROIDS[16] = {
#include "../tables/turbo4-centroids.inc"
};

struct Turbo4 {
    enum : uint { QUERY_PER_VALUE = 1, TURNS_QUERY = 0, SHARED_WORDS = 16 };
    struct Source {};

    static void stage(Source, threadgroup uint *memory, uint thread_index) {
        threadgroup float *levels = (threadgroup float *)memory;
        for (uint i = thread_index; i < 16; i += THREADS) levels[i] = TURBO4_CENTROIDS[i];
    }

    static uint offset(Source, uint value) { return value / 32 * 18; }

    static uint2 places(uint unit) {
        const uint place = (unit / 2) * 32 + (unit % 2) * 8;
        return uint2(place, place + 16);
    }

    static float decode(Source, threadgroup const uint *memory, uint, threadgroup const uint *row, uint, uint,
                        uint unit, thread float *v) {
        threadgroup const float *levels = (threadgroup const float *)memory;
        const uint block = (unit / 2) * 18;
        const uint codes = block + 2 + (unit % 2) * 8;
        for (uint i = 0; i < 4; i++) {
            const uint pair = load16(row, codes + 2 * i);
            v[2 * i] = levels[pair & 15];
            v[2 * i + 1] = levels[(pair >> 8) & 15];
            v[2 * i + 8] = levels[(pair >> 4) & 15];
            v[2 * i + 9] = levels[pair >> 12];
        }
        return half_at(row, block);
    }
};

kernel void eliza_turbo4_score(device const ushort *rows [[buffer(0)]],
                        device const float *queries [[buffer(1)]],
                        device float *scores [[buffer(2)]],
                        constant ScoreParams &params [[buffer(3)]],
                        threadgroup uint *memory [[threadgroup(0)]],
                        uint thread_index [[thread_index_in_threadgroup]],
                        uint3 position [[threadgroup_position_in_grid]]) {
    score<Turbo4>(rows, queries, scores, {}, params, memory, thread_index, position);
}

// turbo3: 14 bytes for 32 values, the block's own fp16 norm, 8 bytes of low bit pairs, 4 bytes of high bits.
#include "score.h"

constant float TURBO3_CENTROIDS[8] = {
#include "../tables/turbo3-centroids.inc"
};

struct Turbo3 {
    enum : uint { QUERY_PER_VALUE = 1, TURNS_QUERY = 0, SHARED_WORDS = 8 };
    struct Source {};

    static void stage(Source, threadgroup uint *memory, uint thread_index) {
        threadgroup float *levels = (threadgroup float *)memory;
        for (uint i = thread_index; i < 8; i += THREADS) levels[i] = TURBO3_CENTROIDS[i];
    }

    static uint offset(Source, uint value) { return value / 32 * 14; }

    static uint2 places(uint unit) { return uint2(unit * 16, unit * 16 + 8); }

    static float decode(Source, threadgroup const uint *memory, uint, threadgroup const uint *row, uint, uint,
                        uint unit, thread float *v) {
        threadgroup const float *levels = (threadgroup const float *)memory;
        const uint block = (unit / 2) * 14;
        const uint low = load32(row, block + 2 + (unit % 2) * 4);
        const uint high = load16(row, block + 10 + (unit % 2) * 2);
        for (uint i = 0; i < 16; i++) v[i] = levels[((low >> (2 * i)) & 3) | (((high >> i) & 1) << 2)];
        return half_at(row, block);
    }
};

kernel void eliza_turbo3_score(device const ushort *rows [[buffer(0)]],
                        device const float *queries [[buffer(1)]],
                        device float *scores [[buffer(2)]],
                        constant ScoreParams &params [[buffer(3)]],
                        threadgroup uint *memory [[threadgroup(0)]],
                        uint thread_index [[thread_index_in_threadgroup]],
                        uint3 position [[threadgroup_position_in_grid]]) {
    score<Turbo3>(rows, queries, scores, {}, params, memory, thread_index, position);
}

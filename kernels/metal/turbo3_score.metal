// turbo3: 14 bytes for 32 values, the block's own fp16 norm, 8 bytes of low bit pairs, 4 bytes of high bits.
#include "score.h"

constant float TURBO3_CENTROIDS[8] = {
#include "../tables/turbo3-centroids.inc"
};

struct Turbo3 {
    enum : uint { QUERY_PER_VALUE = 1, SHARED_FLOATS = 8 };
    struct Source {};

    static void stage(Source, threadgroup float *levels, uint thread_index) {
        for (uint i = thread_index; i < 8; i += THREADS) levels[i] = TURBO3_CENTROIDS[i];
    }

    static uint2 places(uint unit) { return uint2(unit * 16, unit * 16 + 8); }

    static float decode(Source, threadgroup const float *levels, uint, device const ushort *rows, uint at,
                        uint unit, thread float *v) {
        const uint block = at + (unit / 2) * 14;
        const uint low = load32(rows, block + 2 + (unit % 2) * 4);
        const uint high = load16(rows, block + 10 + (unit % 2) * 2);
        for (uint i = 0; i < 16; i++) v[i] = levels[((low >> (2 * i)) & 3) | (((high >> i) & 1) << 2)];
        return half_at(rows, block);
    }
};

kernel void eliza_turbo3_score(device const ushort *rows [[buffer(0)]],
                        device const float4 *queries [[buffer(1)]],
                        device float *scores [[buffer(2)]],
                        constant ScoreParams &params [[buffer(3)]],
                        threadgroup float *memory [[threadgroup(0)]],
                        uint thread_index [[thread_index_in_threadgroup]],
                        uint3 position [[threadgroup_position_in_grid]]) {
    const ScoreParams p = params;
    score<Turbo3>(rows, queries, scores, {}, p, memory, thread_index, position);
}

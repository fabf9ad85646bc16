// Trellis-coded tiles, 1 to 6 bits a symbol and 32, 64 or 128 values a tile, mixed freely within a row. A tile is an
// fp16 scale and a stream in which the nine bits at bit k * t name the state after sample t, an index of a codebook.
#include "score.h"

struct Trellis {
    enum : uint { QUERY_PER_VALUE = 1, TURNS_QUERY = 0, SHARED_WORDS = 6 * 128 };
    struct Source {
        device const uint *codebooks; // int8 [6][512], by bits a symbol
        // For each unit of sixteen values of a row: x the byte of its tile, y its place in the tile, z bits a symbol,
        // with 256 added where the stream goes on at its beginning (the last unit of a tail-biting tile), w the step.
        // One more at the end: x the bytes of a row.
        device const uint4 *units;
    };

    static void stage(Source source, threadgroup uint *memory, uint thread_index) {
        for (uint i = thread_index; i < 6 * 128; i += THREADS) memory[i] = source.codebooks[i];
    }

    static uint offset(Source source, uint value) { return source.units[value / 16].x; }

    static uint2 places(uint unit) { return uint2(unit * 16, unit * 16 + 8); }

    static float decode(Source source, threadgroup const uint *memory, uint, threadgroup const uint *row,
                        uint first_unit, uint start, uint unit, thread float *v) {
        const uint4 u = source.units[first_unit + unit];
        const uint k = u.z & 255;
        threadgroup const uint *codebook = memory + (k - 1) * 128;
        const uint tile = u.x - start, stream = tile + 2;
        uint from = stream + 2 * k * u.y;
        uint bits = 0, have = 0;
        for (uint i = 0, word = 0; i < 16; i++) {
            if (have < 9) {
                if (word == k && u.z >= 256) from = stream - 2 * k;
                bits |= load16(row, from + 2 * word) << have;
                have += 16;
                word++;
            }
            const uint state = bits & 511;
            v[i] = float(int(codebook[state / 4] << (24 - state % 4 * 8)) >> 24);
            bits >>= k;
            have -= k;
        }
        return half_at(row, tile) * as_type<float>(uint(u.w));
    }
};

kernel void eliza_trellis_score(device const ushort *rows [[buffer(0)]],
                                device const float *queries [[buffer(1)]],
                                device float *scores [[buffer(2)]],
                                device const uint *codebooks [[buffer(3)]],
                                device const uint4 *units [[buffer(4)]],
                                constant ScoreParams &params [[buffer(5)]],
                                threadgroup uint *memory [[threadgroup(0)]],
                                uint thread_index [[thread_index_in_threadgroup]],
                                uint3 position [[threadgroup_position_in_grid]]) {
    const Trellis::Source source = {codebooks, units};
    score<Trellis>(rows, queries, scores, source, params, memory, thread_index, position);
}

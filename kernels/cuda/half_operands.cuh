// Rows of a cache type as the right operands of half matrix products, in the order in which lanes read them: a lane's
// 16 bytes lie together, so that a read is one instruction and banks never meet.
#pragma once
#include "attention_types.cuh"

// Four bytes' integers, the sum of `up` and `down` where a type is SPLIT, times two pairs of scales.
template <bool SPLIT>
DEVICE void halves_of(uint32_t up, uint32_t down, uint32_t scale01, uint32_t scale23, uint32_t &h01, uint32_t &h23) {
    constexpr uint32_t EXPONENT = 0x64646464u, BIAS = 0x64806480u; // a half of 1024 and its byte; 1024 + 128
    if constexpr (SPLIT) {
        // up is the number plus one or 0, ~down the number's size less one or 0: their difference is one more.
        const uint32_t size = ~down;
        const uint32_t d01 = halves_subtract(permute(up, EXPONENT, 0x4140), permute(size, EXPONENT, 0x4140));
        const uint32_t d23 = halves_subtract(permute(up, EXPONENT, 0x4342), permute(size, EXPONENT, 0x4342));
        h01 = halves_fma(d01, scale01, scale01 ^ 0x80008000u);
        h23 = halves_fma(d23, scale23, scale23 ^ 0x80008000u);
    } else {
        const uint32_t bytes = up ^ 0x80808080u;
        h01 = halves_multiply(halves_subtract(permute(bytes, EXPONENT, 0x4140), BIAS), scale01);
        h23 = halves_multiply(halves_subtract(permute(bytes, EXPONENT, 0x4342), BIAS), scale23);
    }
}

// What lane (g, t4) holds of dimension i of a step of 32.
template <class K> BOTH_SIDES constexpr int half_key_dim(int step, int t4, int i) {
    if constexpr (K::HALF)
        return 32 * step + 8 * t4 + i;
    else
        return K::key_dim(step, t4, i);
}
template <class V> BOTH_SIDES constexpr int half_value_dim(int tile, int g, int half) {
    if constexpr (V::HALF)
        return 16 * tile + 2 * g + half;
    else
        return V::value_dim(tile, g, half);
}

// Eight keys, of which the lane has the row at `row`: to[step * 32 + lane]. `odd`: the token's number is odd.
template <class K, int STEPS>
DEVICE void key_operands(uint4 *to, const uint8_t *row, int odd, bool there, const Lane &l) {
    if constexpr (K::HALF) {
#pragma unroll
        for (int step = 0; step < STEPS; step++) {
            const uint8_t *at = row + 64 * step + 16 * l.t4;
            to[step * 32 + l.lane] =
                there ? uint4{lds32(at), lds32(at + 4), lds32(at + 8), lds32(at + 12)} : uint4{0, 0, 0, 0};
        }
    } else {
        typename K::KeyCodes codes;
        uint32_t scale = 0;
#pragma unroll
        for (int step = 0; step < STEPS; step++) {
            const int group = K::group_of_step(step);
            if (step == 0 || group != K::group_of_step(step - 1)) {
                const float x = there ? K::scale(row, group) * K::UNIT : 0.0f;
                scale = pack_halves(x, x);
            }
            uint32_t up[2], down[2] = {};
            K::template load_key<false>(codes, row, step, odd, l);
            K::template key<false>(codes, row, step, odd, l, up, down);
            uint4 w;
            halves_of<K::SPLIT>(up[0], down[0], scale, scale, w.x, w.y);
            halves_of<K::SPLIT>(up[1], down[1], scale, scale, w.z, w.w);
            to[step * 32 + l.lane] = w;
        }
    }
}

// Sixteen values, tiles [first, first + COUNT) of 16 dimensions: to[tile * 32 + lane], both dimensions of the lane.
// `four`: the lane's tokens' rows, of which the first `there` are.
template <class V, int COUNT>
DEVICE void value_operands(uint4 *to, const uint8_t *rows, const FourRows &four, int first, int there, const Lane &l) {
    if constexpr (V::HALF) {
#pragma unroll
        for (int t = 0; t < COUNT; t++) {
            uint32_t word[4];
#pragma unroll
            for (int i = 0; i < 4; i++) word[i] = i < there ? lds32(rows + four.at[i] + 32 * (first + t) + 4 * l.g) : 0;
            to[(first + t) * 32 + l.lane] = uint4{permute(word[0], word[1], 0x5410), permute(word[2], word[3], 0x5410),
                                                  permute(word[0], word[1], 0x7632), permute(word[2], word[3], 0x7632)};
        }
    } else {
        static_assert(COUNT % V::LOAD_TILES == 0);
#pragma unroll
        for (int t0 = 0; t0 < COUNT; t0 += V::LOAD_TILES) {
            const int tile0 = first + t0;
            float scale[4];
#pragma unroll
            for (int i = 0; i < 4; i++)
                scale[i] = i < there ? V::scale(rows + four.at[i], V::group_of_tile(tile0)) * V::UNIT : 0.0f;
            const uint32_t scale01 = pack_halves(scale[0], scale[1]), scale23 = pack_halves(scale[2], scale[3]);
            typename V::ValueCodes codes;
            V::template load_value<false>(codes, rows, four, tile0, l);
#pragma unroll
            for (int t = 0; t < V::LOAD_TILES; t++) {
                uint4 w;
                const uint32_t up0 = V::template value<false>(codes, tile0 + t, 0, true, l);
                const uint32_t up1 = V::template value<false>(codes, tile0 + t, 1, true, l);
                const uint32_t down0 = V::SPLIT ? V::template value<false>(codes, tile0 + t, 0, false, l) : 0;
                const uint32_t down1 = V::SPLIT ? V::template value<false>(codes, tile0 + t, 1, false, l) : 0;
                halves_of<V::SPLIT>(up0, down0, scale01, scale23, w.x, w.y);
                halves_of<V::SPLIT>(up1, down1, scale01, scale23, w.z, w.w);
                to[(tile0 + t) * 32 + l.lane] = w;
            }
        }
    }
}

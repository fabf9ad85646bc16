// What attention knows of a cache type: how the bytes of a row in shared memory become the int8 (or half) operands of
// matrix instructions. Products keep the type's integers; `UNIT` and the scales turn sums to values.
//
// A key's row is the right operand: 32 values a step, of which lane (g, t4) holds eight of token g. `dim` says which,
// in the rotated basis; the query is laid out to match. A value's row is the left operand, transposed: 16 dimensions
// a tile, of which the lane holds two (half 0 and half 1) of four neighbouring tokens.
// SPLIT types have the upper and the lower half of their table in two operands whose products add up. A byte permute
// looks eight bytes up; where bit 3 of its selector is set it repeats the byte's sign instead, which gives 0 in the
// upper half's operand (bytes below 128) and -1 in the lower half's (negative ones). So the upper entries are one more.
#pragma once
#include "row_copies.cuh"
#include "warp.cuh"

enum class Rotation { none, signed_tile, plain128 };

struct Lane {
    int lane, g, t4;
    const uint8_t *codebooks; // in shared memory: [512] words for each lane, a byte a rate
};

// Every type's rows begin at even addresses.
DEVICE uint32_t load_pair(const uint8_t *at) { return lds16(at) | (lds16(at + 2) << 16); }

// 32 values in 18 bytes: an fp16 scale and 16 bytes whose low nibbles come first.
template <int D> struct Nibbles {
    static constexpr int ROW = D / 32 * 18, GROUPS = D / 32, LOAD_TILES = 2;
    static constexpr bool HALF = false;
    static BOTH_SIDES constexpr int group_of_step(int step) { return step; }
    static BOTH_SIDES constexpr int group_of_tile(int tile) { return tile / 2; }
    static __device__ __forceinline__ float scale(const uint8_t *row, int group) {
        return half_bits(lds16(row + group * 18));
    }
    // Dimensions of a tile: the lane's byte holds two.
    static __device__ __forceinline__ int value_dim(int tile, int g, int half) {
        return tile / 2 * 32 + 2 * g + tile % 2 + 16 * half;
    }
};

template <int D> struct Turbo4 : Nibbles<D> {
    static constexpr bool SPLIT = true;
    static constexpr Rotation ROTATION = Rotation::signed_tile;
    static constexpr int TILE = 32;
    // The centroids in units of UNIT, the best one for integers up to 127 (relative squared error 1.04e-5).
    static constexpr float UNIT = 0.026128860f;
    static constexpr uint32_t UP0 = 6 | 16 << 8 | 26 << 16 | 37u << 24;
    static constexpr uint32_t UP1 = 49 | 63 << 8 | 80 << 16 | 106u << 24;
    static constexpr uint32_t DOWN0 = (256 - 105) | (256 - 79) << 8 | (256 - 62) << 16 | (256u - 48) << 24;
    static constexpr uint32_t DOWN1 = (256 - 36) | (256 - 25) << 8 | (256 - 15) << 16 | (256u - 5) << 24;
    struct KeyCodes {};
    struct ValueCodes {
        uint32_t low, high; // nibbles of four tokens, of the lane's first byte in the low half, its second above
    };

    static __device__ __forceinline__ int key_dim(int step, int t4, int i) {
        return 32 * step + 4 * t4 + i / 2 + 16 * (i % 2);
    }
    template <bool>
    static __device__ __forceinline__ void load_key(KeyCodes &, const uint8_t *, int, int, const Lane &) {}
    template <bool>
    static __device__ __forceinline__ void key(const KeyCodes &, const uint8_t *row, int step, int, const Lane &l,
                                               uint32_t *up, uint32_t *down) {
        const uint8_t *at = row + step * 18 + 2 + 4 * l.t4;
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const uint32_t codes = lds16(at + 2 * i);
            up[i] = permute(UP0, UP1, codes ^ 0x8888u);
            down[i] = permute(DOWN0, DOWN1, codes);
        }
    }

    template <bool PACKED>
    static __device__ __forceinline__ void load_value(ValueCodes &codes, const uint8_t *rows, const FourRows &four,
                                                      int tile, const Lane &l) {
        const uint8_t *at = rows + tile / 2 * 18 + 2 + 2 * l.g;
        const uint32_t even = lds16(at + four.at[0]) + lds16(at + four.at[2]) * 65536u;
        const uint32_t odd = lds16(at + four.at[1]) + lds16(at + four.at[3]) * 65536u;
        const uint32_t low = (even & 0x0f0f0f0fu) | ((odd * 16u) & 0xf0f0f0f0u);
        const uint32_t high = ((even >> 4) & 0x0f0f0f0fu) | (odd & 0xf0f0f0f0u);
        codes.low = permute(low, low, 0x3120);
        codes.high = permute(high, high, 0x3120);
    }
    template <bool PACKED>
    static __device__ __forceinline__ uint32_t value(const ValueCodes &codes, int tile, int half, bool upper,
                                                     const Lane &) {
        const uint32_t both = half ? codes.high : codes.low, z = tile % 2 ? both >> 16 : both;
        return upper ? permute(UP0, UP1, z ^ 0x8888u) : permute(DOWN0, DOWN1, z);
    }
};

// Values (code - 8) times the scale; codes are brought to the high nibble, which multiplies them by 16.
template <int D> struct Q4_0 : Nibbles<D> {
    static constexpr bool SPLIT = false;
    static constexpr Rotation ROTATION = Rotation::none;
    static constexpr int TILE = 32;
    static constexpr float UNIT = 0.0625f;
    struct KeyCodes {};
    struct ValueCodes {
        uint32_t bytes[2]; // of four tokens
    };

    static __device__ __forceinline__ int key_dim(int step, int t4, int i) {
        return 32 * step + 4 * t4 + i % 4 + 16 * (i / 4);
    }
    template <bool>
    static __device__ __forceinline__ void load_key(KeyCodes &, const uint8_t *, int, int, const Lane &) {}
    template <bool>
    static __device__ __forceinline__ void key(const KeyCodes &, const uint8_t *row, int step, int, const Lane &l,
                                               uint32_t *up, uint32_t *) {
        const uint8_t *at = row + step * 18 + 2 + 4 * l.t4;
        const uint32_t codes = lds16(at) + lds16(at + 2) * 65536u;
        up[0] = ((codes * 16u) & 0xf0f0f0f0u) ^ 0x80808080u;
        up[1] = (codes & 0xf0f0f0f0u) ^ 0x80808080u;
    }

    template <bool PACKED>
    static __device__ __forceinline__ void load_value(ValueCodes &codes, const uint8_t *rows, const FourRows &four,
                                                      int tile, const Lane &l) {
        const uint8_t *at = rows + tile / 2 * 18 + 2 + 2 * l.g;
        const uint32_t first = permute(lds16(at + four.at[0]), lds16(at + four.at[1]), 0x5140);
        const uint32_t second = permute(lds16(at + four.at[2]), lds16(at + four.at[3]), 0x5140);
        codes.bytes[0] = permute(first, second, 0x5410);
        codes.bytes[1] = permute(first, second, 0x7632);
    }
    template <bool PACKED>
    static __device__ __forceinline__ uint32_t value(const ValueCodes &codes, int tile, int half, bool, const Lane &) {
        const uint32_t z = codes.bytes[tile % 2];
        return ((half ? z : z * 16u) & 0xf0f0f0f0u) ^ 0x80808080u;
    }
};

// 32 values in 34 bytes: an fp16 scale and int8 codes.
template <int D> struct Q8_0 {
    static constexpr int ROW = D / 32 * 34, GROUPS = D / 32, LOAD_TILES = 2, TILE = 32;
    static constexpr bool HALF = false, SPLIT = false;
    static constexpr Rotation ROTATION = Rotation::none;
    static constexpr float UNIT = 1.0f;
    struct KeyCodes {};
    struct ValueCodes {
        uint32_t bytes[4]; // of four tokens
    };
    static BOTH_SIDES constexpr int group_of_step(int step) { return step; }
    static BOTH_SIDES constexpr int group_of_tile(int tile) { return tile / 2; }
    static __device__ __forceinline__ float scale(const uint8_t *row, int group) {
        return half_bits(lds16(row + group * 34));
    }
    static __device__ __forceinline__ int key_dim(int step, int t4, int i) { return 32 * step + 8 * t4 + i; }
    template <bool>
    static __device__ __forceinline__ void load_key(KeyCodes &, const uint8_t *, int, int, const Lane &) {}
    template <bool>
    static __device__ __forceinline__ void key(const KeyCodes &, const uint8_t *row, int step, int, const Lane &l,
                                               uint32_t *up, uint32_t *) {
        const uint8_t *at = row + step * 34 + 2 + 8 * l.t4;
        up[0] = lds16(at) + lds16(at + 2) * 65536u;
        up[1] = lds16(at + 4) + lds16(at + 6) * 65536u;
    }
    static __device__ __forceinline__ int value_dim(int tile, int g, int half) {
        return tile / 2 * 32 + 4 * g + 2 * (tile % 2) + half;
    }
    template <bool PACKED>
    static __device__ __forceinline__ void load_value(ValueCodes &codes, const uint8_t *rows, const FourRows &four,
                                                      int tile, const Lane &l) {
        const uint8_t *at = rows + tile / 2 * 34 + 2 + 4 * l.g;
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const uint8_t *pair = at + 2 * i;
            const uint32_t first = permute(lds16(pair + four.at[0]), lds16(pair + four.at[1]), 0x5140);
            const uint32_t second = permute(lds16(pair + four.at[2]), lds16(pair + four.at[3]), 0x5140);
            codes.bytes[2 * i] = permute(first, second, 0x5410);
            codes.bytes[2 * i + 1] = permute(first, second, 0x7632);
        }
    }
    template <bool PACKED>
    static __device__ __forceinline__ uint32_t value(const ValueCodes &codes, int tile, int half, bool, const Lane &) {
        return codes.bytes[2 * (tile % 2) + half];
    }
};

// A run of `count` values of `rate` bits from a byte-aligned place of a stream, and the nine bits of state after each.
// `skew`: how far the place lies in its word where that is known when compiling, else -1.
template <int WORDS> struct Windows {
    uint32_t word[WORDS + 2];

    // `after` is where the stream goes on behind the run.
    __device__ __forceinline__ void load(const uint8_t *at, const uint8_t *after, int rate, int count, int skew) {
        const int bits = rate * count;
        const uint32_t next = bits % 16 ? after[0] | (uint32_t)after[1] << 8 : lds16(after);
        if (skew >= 0) {
#pragma unroll
            for (int i = 0; i < WORDS; i++)
                if (32 * i < 8 * skew + bits) word[i] = lds32(at - skew + 4 * i);
        } else {
            const uint32_t found = (uint32_t)(uintptr_t)at & 3, selector = 0x3210u + 0x1111u * found;
            const uint8_t *aligned = at - found;
            uint32_t low = lds32(aligned);
#pragma unroll
            for (int i = 0; i < WORDS; i++)
                if (32 * i < bits) {
                    const uint32_t high = lds32(aligned + 4 * i + 4);
                    word[i] = permute(low, high, selector);
                    low = high;
                }
        }
        const int end = bits + (skew > 0 ? 8 * skew : 0), last = end / 32, shift = end % 32;
        word[last] = shift == 16 ? permute(word[last], next, 0x5410)
                     : shift     ? (word[last] & ((1u << shift) - 1)) | next << shift
                                 : next;
        word[last + 1] = shift > 16 ? next >> (32 - shift) : 0;
    }
    // State i shifted to bit 7: the byte of its codebook entry, a word for each of 32 lanes.
    __device__ __forceinline__ uint32_t entry(int rate, int i, int skew) const {
        const int bit = rate * i - 7 + (skew > 0 ? 8 * skew : 0);
        if (bit < 0) return word[0] << -bit;
        return bit % 32 == 0 ? word[bit / 32] : __funnelshift_r(word[bit / 32], word[bit / 32 + 1], bit % 32);
    }
};

// Trellis tiles, tail-biting, or elizaOS' with a prefix of six bits. `Rates` describes a row: rate(tile), WIDTH,
// slot(rate): the byte of a codebook word that holds the rate.
template <int D, int WIDTH_, class Rates> struct Trellis {
    static constexpr int WIDTH = WIDTH_, TILES = D / WIDTH, TILE = WIDTH, GROUPS = TILES;
    static constexpr bool HALF = false, SPLIT = false, PREFIXED = Rates::PREFIXED;
    static constexpr Rotation ROTATION = Rotation::signed_tile;
    static constexpr float UNIT = 1.0f; // scales take the step in
    static constexpr int STEPS = WIDTH / 32, LOAD_TILES = WIDTH / 16;
    static BOTH_SIDES constexpr int tile_bytes(int tile) { return PREFIXED ? 52 : 2 + WIDTH * Rates::rate(tile) / 8; }
    static BOTH_SIDES constexpr int byte_of(int tile) {
        int at = 0;
        for (int i = 0; i < tile; i++) at += tile_bytes(i);
        return at;
    }
    static constexpr int ROW = byte_of(TILES);
    static constexpr int MAX_RATE = 6;
    static BOTH_SIDES constexpr int group_of_step(int step) { return step / STEPS; }
    static BOTH_SIDES constexpr int group_of_tile(int tile) { return tile / LOAD_TILES; }
    static __device__ __forceinline__ float scale(const uint8_t *row, int group) {
        return half_bits(lds16(row + byte_of(group))) * Rates::step(group);
    }

    using KeyCodes = Windows<(WIDTH / 4 * Rates::MAX + 31) / 32 + 1>;
    static __device__ __forceinline__ int key_dim(int step, int t4, int i) {
        return step / STEPS * WIDTH + WIDTH / 4 * t4 + step % STEPS * 8 + i;
    }
    // Place of a tile's stream in its word, of packed rows, for lanes whose runs are `bytes` long; -1 if they differ.
    static BOTH_SIDES constexpr int skew(bool packed, int token, int tile, int bytes) {
        return packed && bytes % 4 == 0 ? (token * ROW + byte_of(tile) + 2) % 4 : -1;
    }
    static BOTH_SIDES constexpr int key_skew(bool packed, int odd_token, int tile) {
        return skew(packed, odd_token, tile, WIDTH / 4 * Rates::rate(tile) / 8);
    }
    static BOTH_SIDES constexpr int value_skew(bool packed, int token, int tile) {
        return skew(packed, token, tile, WIDTH / 8 * Rates::rate(tile) / 8);
    }
    template <bool PACKED>
    static __device__ __forceinline__ void load_key(KeyCodes &codes, const uint8_t *row, int step, int odd_token,
                                                    const Lane &l) {
        if (step % STEPS != 0) return;
        const int tile = step / STEPS, rate = Rates::rate(tile), bytes = WIDTH / 4 * rate / 8;
        const uint8_t *stream = row + byte_of(tile) + 2, *at = stream + bytes * l.t4;
        codes.load(at, l.t4 == 3 && !PREFIXED ? stream : at + bytes, rate, WIDTH / 4,
                   key_skew(PACKED, odd_token, tile));
    }
    static __device__ __forceinline__ uint32_t sample(uint32_t entry, int rate, const Lane &l) {
        return l.codebooks[((entry & 0xff80u) | (uint32_t)(l.lane * 4)) + Rates::slot(rate)];
    }
    static __device__ __forceinline__ uint32_t pack(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
        return ((d * 256u + c) * 256u + b) * 256u + a; // multiply-adds leave the permutes' pipe alone
    }
    template <bool PACKED>
    static __device__ __forceinline__ void key(const KeyCodes &codes, const uint8_t *, int step, int odd_token,
                                               const Lane &l, uint32_t *up, uint32_t *) {
        const int rate = Rates::rate(step / STEPS), first = step % STEPS * 8;
        const int skew = key_skew(PACKED, odd_token, step / STEPS);
        uint32_t s[8];
#pragma unroll
        for (int i = 0; i < 8; i++) s[i] = sample(codes.entry(rate, first + i, skew), rate, l);
        up[0] = pack(s[0], s[1], s[2], s[3]);
        up[1] = pack(s[4], s[5], s[6], s[7]);
    }

    struct ValueCodes {
        Windows<(WIDTH / 8 * Rates::MAX + 31) / 32 + 1> token[4];
    };
    static __device__ __forceinline__ int value_dim(int tile, int g, int half) {
        return tile / LOAD_TILES * WIDTH + WIDTH / 8 * g + tile % LOAD_TILES * 2 + half;
    }
    template <bool PACKED>
    static __device__ __forceinline__ void load_value(ValueCodes &codes, const uint8_t *rows, const FourRows &four,
                                                      int tile, const Lane &l) {
        const int t = tile / LOAD_TILES, rate = Rates::rate(t), bytes = WIDTH / 8 * rate / 8;
        const uint8_t *stream = rows + byte_of(t) + 2, *at = stream + bytes * l.g;
        const uint8_t *after = l.g == 7 && !PREFIXED ? stream : at + bytes;
#pragma unroll
        for (int i = 0; i < 4; i++)
            codes.token[i].load(at + four.at[i], after + four.at[i], rate, WIDTH / 8, value_skew(PACKED, i, t));
    }
    template <bool PACKED>
    static __device__ __forceinline__ uint32_t value(const ValueCodes &codes, int tile, int half, bool, const Lane &l) {
        const int rate = Rates::rate(tile / LOAD_TILES), i = tile % LOAD_TILES * 2 + half;
        uint32_t s[4];
#pragma unroll
        for (int t = 0; t < 4; t++)
            s[t] = sample(codes.token[t].entry(rate, i, value_skew(PACKED, t, tile / LOAD_TILES)), rate, l);
        return pack(s[0], s[1], s[2], s[3]);
    }
};

static __device__ const float TRELLIS_STEPS[6] = {
#include "../tables/trellis-steps.inc"
};
static __device__ const float TRELLIS_PREFIXED_STEP =
#include "../tables/trellis-prefixed-step.inc"
    ;

// The byte of a codebook word that holds a rate: 2, 3 and 4 have their own, 1, 5 and 6 share one.
BOTH_SIDES constexpr int codebook_slot(int rate) { return rate >= 2 && rate <= 4 ? rate - 2 : 3; }

template <int RATE> struct OneRate {
    static constexpr bool PREFIXED = false;
    static constexpr int MAX = RATE, ODD = codebook_slot(RATE) == 3 ? RATE : 0;
    static BOTH_SIDES constexpr int rate(int) { return RATE; }
    static BOTH_SIDES constexpr int slot(int rate) { return codebook_slot(rate); }
    static __device__ __forceinline__ float step(int) { return TRELLIS_STEPS[RATE - 1]; }
};
struct PrefixedRate {
    static constexpr bool PREFIXED = true;
    static constexpr int MAX = 3, ODD = 0;
    static BOTH_SIDES constexpr int rate(int) { return 3; }
    static BOTH_SIDES constexpr int slot(int rate) { return codebook_slot(rate); }
    static __device__ __forceinline__ float step(int) { return TRELLIS_PREFIXED_STEP; }
};
// A tile a quarter of the head, or a half at 64, at rates of falling importance.
template <int A, int B, int C, int E> struct MixedRates {
    static constexpr bool PREFIXED = false;
    static constexpr int MAX = A, ODD = codebook_slot(A) == 3   ? A
                                        : codebook_slot(B) == 3 ? B
                                        : codebook_slot(C) == 3 ? C
                                                                : 0;
    static BOTH_SIDES constexpr int rate(int tile) { return tile == 0 ? A : tile == 1 ? B : tile == 2 ? C : E; }
    static BOTH_SIDES constexpr int slot(int rate) { return codebook_slot(rate); }
    static __device__ __forceinline__ float step(int tile) { return TRELLIS_STEPS[rate(tile) - 1]; }
};

template <int D> BOTH_SIDES constexpr int tile_width() { return D % 128 == 0 ? 128 : D % 64 == 0 ? 64 : 32; }
template <int D, int RATE> using TailBiting = Trellis<D, tile_width<D>(), OneRate<RATE>>;
template <int D> struct Turbo3TcqOf { using Type = Trellis<D, 128, PrefixedRate>; };
template <> struct Turbo3TcqOf<64> { using Type = TailBiting<64, 3>; };
template <int D, int A, int B, int C, int E, int HIGH, int LOW> struct MixedOf {
    using Type = Trellis<D, D / 4, MixedRates<A, B, C, E>>;
};
template <int A, int B, int C, int E, int HIGH, int LOW> struct MixedOf<64, A, B, C, E, HIGH, LOW> {
    using Type = Trellis<64, 32, MixedRates<HIGH, LOW, 0, 0>>;
};

// float16, in the basis that it came in.
template <int D> struct F16 {
    static constexpr int ROW = 2 * D, GROUPS = 0, TILE = 32;
    static constexpr bool HALF = true, SPLIT = false;
    static BOTH_SIDES constexpr int group_of_step(int) { return 0; }
    static constexpr Rotation ROTATION = Rotation::none;
    static constexpr float UNIT = 1.0f;
};

// The types by the names that users give them.
namespace cache_type {
template <int D> using turbo4 = Turbo4<D>;
template <int D> using q4_0 = Q4_0<D>;
template <int D> using q8_0 = Q8_0<D>;
template <int D> using f16 = F16<D>;
template <int D> using turbo2_tcq = TailBiting<D, 2>;
template <int D> using turbo3_tcq = typename Turbo3TcqOf<D>::Type;
template <int D> using turbo4_tcq = TailBiting<D, 4>;
template <int D> using turbo4_mix = typename MixedOf<D, 6, 4, 3, 3, 5, 3>::Type;
template <int D> using turbo3_mix = typename MixedOf<D, 5, 3, 2, 2, 4, 2>::Type;
template <int D> using turbo2_mix = typename MixedOf<D, 4, 2, 1, 1, 3, 1>::Type;
} // namespace cache_type

template <class T> struct UsesCodebook {
    static constexpr bool VALUE = false;
    static constexpr int ODD = 0;
};
template <int D, int WIDTH, class Rates> struct UsesCodebook<Trellis<D, WIDTH, Rates>> {
    static constexpr bool VALUE = true;
    static constexpr int ODD = Rates::ODD;
};

// Sixteen lanes as two AVX2 registers (AVX2, FMA, F16C, BMI2).
#ifndef ELIZA_KV_LANES_AVX2_H
#define ELIZA_KV_LANES_AVX2_H

#include <immintrin.h>

#include "lanes.h"

typedef struct vf {
    __m256 low, high;
} vf;

typedef struct vi {
    __m256i low, high;
} vi;

typedef __m128i vb;

KV_INLINE vf vf_set1(float value) { return (vf){_mm256_set1_ps(value), _mm256_set1_ps(value)}; }
KV_INLINE vf vf_zero(void) { return (vf){_mm256_setzero_ps(), _mm256_setzero_ps()}; }
KV_INLINE vf vf_load(const float *x) { return (vf){_mm256_loadu_ps(x), _mm256_loadu_ps(x + 8)}; }

KV_INLINE void vf_store(float *x, vf a) {
    _mm256_storeu_ps(x, a.low);
    _mm256_storeu_ps(x + 8, a.high);
}

KV_INLINE vf vf_add(vf a, vf b) { return (vf){_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)}; }
KV_INLINE vf vf_sub(vf a, vf b) { return (vf){_mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high)}; }
KV_INLINE vf vf_mul(vf a, vf b) { return (vf){_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)}; }

KV_INLINE vf vf_fma(vf a, vf b, vf c) {
    return (vf){_mm256_fmadd_ps(a.low, b.low, c.low), _mm256_fmadd_ps(a.high, b.high, c.high)};
}

KV_INLINE float vf_fold(vf a) {
    const __m256 eight = _mm256_add_ps(a.low, a.high);
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
}

KV_INLINE __m256 negate8(__m256 a, uint32_t mask) {
    const __m256i to_sign_bit = _mm256_setr_epi32(31, 30, 29, 28, 27, 26, 25, 24);
    const __m256i bits = _mm256_sllv_epi32(_mm256_set1_epi32((int)mask), to_sign_bit);
    return _mm256_xor_ps(a, _mm256_castsi256_ps(_mm256_and_si256(bits, _mm256_set1_epi32(INT32_MIN))));
}

KV_INLINE vf vf_negate(vf a, uint32_t mask) { return (vf){negate8(a.low, mask), negate8(a.high, mask >> 8)}; }

// Negating by sign bits is exact, so b − a as b + (−a) rounds the same.
KV_INLINE __m256 butterfly(__m256 a, __m256 swapped, __m256i negate) {
    return _mm256_add_ps(swapped, _mm256_xor_ps(a, _mm256_castsi256_ps(negate)));
}

KV_INLINE __m256 hadamard8(__m256 a) {
    const int n = INT32_MIN;
    a = butterfly(a, _mm256_permute_ps(a, 0xb1), _mm256_setr_epi32(0, n, 0, n, 0, n, 0, n));
    a = butterfly(a, _mm256_permute_ps(a, 0x4e), _mm256_setr_epi32(0, 0, n, n, 0, 0, n, n));
    return butterfly(a, _mm256_permute2f128_ps(a, a, 1), _mm256_setr_epi32(0, 0, 0, 0, n, n, n, n));
}

KV_INLINE vf vf_hadamard16(vf a) {
    const __m256 x = hadamard8(a.low);
    const __m256 y = hadamard8(a.high);
    return (vf){_mm256_add_ps(x, y), _mm256_sub_ps(x, y)};
}

KV_INLINE uint32_t vf_positive(vf a) {
    const __m256 zero = _mm256_setzero_ps();
    return (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(a.low, zero, _CMP_GT_OQ)) |
           (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(a.high, zero, _CMP_GT_OQ)) << 8;
}

KV_INLINE float half_to_float(uint16_t half) { return _cvtsh_ss(half); }

KV_INLINE vf vf_load_half(const uint8_t *bytes) {
    return (vf){_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)bytes)),
                _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(bytes + 16)))};
}

KV_INLINE vf vf_lookup8(const float *table, vi index) {
    const __m256 values = _mm256_loadu_ps(table);
    return (vf){_mm256_permutevar8x32_ps(values, index.low), _mm256_permutevar8x32_ps(values, index.high)};
}

KV_INLINE __m256 lookup16_8(__m256 first, __m256 second, __m256i index) {
    return _mm256_blendv_ps(_mm256_permutevar8x32_ps(first, index), _mm256_permutevar8x32_ps(second, index),
                            _mm256_castsi256_ps(_mm256_slli_epi32(index, 28)));
}

KV_INLINE vf vf_lookup16(const float *table, vi index) {
    const __m256 first = _mm256_loadu_ps(table);
    const __m256 second = _mm256_loadu_ps(table + 8);
    return (vf){lookup16_8(first, second, index.low), lookup16_8(first, second, index.high)};
}

KV_INLINE vf vf_lookup512(const float *table, vi index) {
    return (vf){_mm256_i32gather_ps(table, index.low, 4), _mm256_i32gather_ps(table, index.high, 4)};
}

KV_INLINE vi vf_round(vf a) { return (vi){_mm256_cvtps_epi32(a.low), _mm256_cvtps_epi32(a.high)}; }

// Thresholds by level of the search tree: the code so far picks the next one.
typedef struct vsearch {
    __m256 level[4];
} vsearch;

KV_INLINE vsearch vsearch8(const float *t) {
    return (vsearch){{_mm256_set1_ps(t[3]), _mm256_setr_ps(t[1], t[5], 0, 0, 0, 0, 0, 0),
                      _mm256_setr_ps(t[0], t[2], t[4], t[6], 0, 0, 0, 0), _mm256_setzero_ps()}};
}

KV_INLINE vsearch vsearch16(const float *t) {
    return (vsearch){{_mm256_set1_ps(t[7]), _mm256_setr_ps(t[3], t[11], 0, 0, 0, 0, 0, 0),
                      _mm256_setr_ps(t[1], t[5], t[9], t[13], 0, 0, 0, 0),
                      _mm256_setr_ps(t[0], t[2], t[4], t[6], t[8], t[10], t[12], t[14])}};
}

KV_INLINE __m256i codes_8(const vsearch *search, __m256 a, int levels) {
    __m256i code = _mm256_setzero_si256();
    for (int level = 0; level < levels; ++level) {
        const __m256 threshold = level == 0 ? search->level[0] : _mm256_permutevar8x32_ps(search->level[level], code);
        const __m256i at_least = _mm256_castps_si256(_mm256_cmp_ps(a, threshold, _CMP_GE_OQ));
        code = _mm256_sub_epi32(_mm256_add_epi32(code, code), at_least);
    }
    return code;
}

KV_INLINE vi vi_codes8(vsearch search, vf a) { return (vi){codes_8(&search, a.low, 3), codes_8(&search, a.high, 3)}; }
KV_INLINE vi vi_codes16(vsearch search, vf a) { return (vi){codes_8(&search, a.low, 4), codes_8(&search, a.high, 4)}; }

KV_INLINE vi vi_and(vi a, int32_t mask) {
    const __m256i m = _mm256_set1_epi32(mask);
    return (vi){_mm256_and_si256(a.low, m), _mm256_and_si256(a.high, m)};
}

KV_INLINE vi vi_or(vi a, vi b) { return (vi){_mm256_or_si256(a.low, b.low), _mm256_or_si256(a.high, b.high)}; }
KV_INLINE vi vi_shl(vi a, int count) { return (vi){_mm256_slli_epi32(a.low, count), _mm256_slli_epi32(a.high, count)}; }
KV_INLINE vi vi_shr(vi a, int count) { return (vi){_mm256_srli_epi32(a.low, count), _mm256_srli_epi32(a.high, count)}; }

KV_INLINE __m256i mask_bit8(__m256i a, uint32_t mask, int bit) {
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i bits = _mm256_and_si256(_mm256_srlv_epi32(_mm256_set1_epi32((int)mask), lanes), _mm256_set1_epi32(1));
    return _mm256_or_si256(a, _mm256_slli_epi32(bits, bit));
}

KV_INLINE vi vi_mask_bit(vi a, uint32_t mask, int bit) {
    return (vi){mask_bit8(a.low, mask, bit), mask_bit8(a.high, mask >> 8, bit)};
}

// The low 16 bits of the lanes; they are at most 32767 in magnitude.
KV_INLINE __m256i narrow16(vi a) { return _mm256_permute4x64_epi64(_mm256_packs_epi32(a.low, a.high), 0xd8); }

KV_INLINE void vi_narrow16(int16_t *out, vi a) { _mm256_storeu_si256((__m256i *)out, narrow16(a)); }

KV_INLINE void vi_narrow(uint8_t *out, vi a) {
    const __m256i halves = narrow16(a);
    _mm_storeu_si128((__m128i *)out,
                     _mm_packus_epi16(_mm256_castsi256_si128(halves), _mm256_extracti128_si256(halves, 1)));
}

KV_INLINE vb vb_load16(const uint8_t *bytes) { return _mm_loadu_si128((const __m128i *)bytes); }

KV_INLINE vb vb_load_exact(const uint8_t *bytes, int count) {
    if (count == 16) return vb_load16(bytes);
    if (count <= 8) return _mm_cvtsi64_si128((long long)read_up_to64(bytes, count));
    return _mm_set_epi64x((long long)read_up_to64(bytes + 8, count - 8), (long long)read64(bytes));
}

KV_INLINE vb vb_set_word(vb a, int i, uint16_t word) {
    switch (i) {
    case 1:
        return _mm_insert_epi16(a, word, 1);
    case 2:
        return _mm_insert_epi16(a, word, 2);
    case 3:
        return _mm_insert_epi16(a, word, 3);
    case 4:
        return _mm_insert_epi16(a, word, 4);
    case 5:
        return _mm_insert_epi16(a, word, 5);
    default:
        return _mm_insert_epi16(a, word, 6);
    }
}

KV_INLINE vi vi_bytes(vb a) { return (vi){_mm256_cvtepu8_epi32(a), _mm256_cvtepu8_epi32(_mm_srli_si128(a, 8))}; }

// The bytes that lane i's window begins in, and three more as they come: nine bits need the first two.
KV_INLINE __m256i windows8(__m128i bits, int step, int first) {
    __m256i lanes = _mm256_add_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(first));
    lanes = _mm256_mullo_epi32(lanes, _mm256_set1_epi32(step));
    const __m256i byte = _mm256_srli_epi32(lanes, 3);
    __m256i shuffle = _mm256_or_si256(byte, _mm256_slli_epi32(_mm256_add_epi32(byte, _mm256_set1_epi32(1)), 8));
    shuffle = _mm256_or_si256(shuffle, _mm256_set1_epi32((int)0x80800000u));
    const __m256i words = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(bits), shuffle);
    return _mm256_srlv_epi32(words, _mm256_and_si256(lanes, _mm256_set1_epi32(7)));
}

KV_INLINE vi vi_windows(vb a, int step) { return (vi){windows8(a, step, 0), windows8(a, step, 8)}; }

// ---- for viterbi_vector.h

typedef __m256i iv;
typedef __m256i iv_sample;

enum { IV_LANES = 8, IV_BLOCK = 4, IV_TILES = 1 };

// (value · 2^k, 2 · value²): with (−x, 2^k) one pmaddwd makes a branch metric, already shifted for its predecessor.
typedef struct branch_entries {
    _Alignas(64) int16_t pair[TRELLIS_STATES][2];
} branch_entries;

KV_INLINE void set_branch(branch_entries *entries, int i, int value, int k) {
    entries->pair[i][0] = (int16_t)(value * (1 << k));
    entries->pair[i][1] = (int16_t)(2 * value * value);
}

KV_INLINE iv iv_load(const int32_t *x) { return _mm256_loadu_si256((const __m256i *)x); }
KV_INLINE void iv_store(int32_t *x, iv a) { _mm256_storeu_si256((__m256i *)x, a); }
KV_INLINE iv iv_set1(int32_t value) { return _mm256_set1_epi32(value); }
KV_INLINE iv iv_add(iv a, iv b) { return _mm256_add_epi32(a, b); }
KV_INLINE iv iv_and(iv a, iv b) { return _mm256_and_si256(a, b); }
KV_INLINE iv iv_min(iv a, iv b) { return _mm256_min_epi32(a, b); }

KV_INLINE iv iv_repeat(const int32_t *from, int count) {
    if (count == 1) return _mm256_set1_epi32(from[0]);
    if (count == 2) return _mm256_set1_epi64x((long long)read64((const uint8_t *)from));
    return iv_load(from);
}

KV_INLINE iv unzip(iv a, iv b, int imm_odd) {
    const __m256 x = _mm256_castsi256_ps(a);
    const __m256 y = _mm256_castsi256_ps(b);
    const __m256 picked = imm_odd ? _mm256_shuffle_ps(x, y, 0xdd) : _mm256_shuffle_ps(x, y, 0x88);
    return _mm256_permute4x64_epi64(_mm256_castps_si256(picked), 0xd8);
}

KV_INLINE iv iv_even(iv a, iv b) { return unzip(a, b, 0); }
KV_INLINE iv iv_odd(iv a, iv b) { return unzip(a, b, 1); }

KV_INLINE iv iv_low(iv a, iv b) {
    return _mm256_permute2x128_si256(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b), 0x20);
}

KV_INLINE iv iv_high(iv a, iv b) {
    return _mm256_permute2x128_si256(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b), 0x31);
}

KV_INLINE iv_sample make_sample(int16_t x, int k) {
    return _mm256_set1_epi32((int32_t)((uint16_t)-x | (1u << (16 + k))));
}

KV_INLINE iv iv_branch(iv survivors, const branch_entries *entries, int i, iv_sample sample) {
    return _mm256_add_epi32(survivors, _mm256_madd_epi16(_mm256_load_si256((const __m256i *)entries->pair[i]), sample));
}

KV_INLINE void store_choices(uint8_t *out, const iv *w, int count, int32_t mask) {
    const __m256i m = _mm256_set1_epi32(mask);
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    if (count == 1) {
        const __m128i halves =
            _mm_packs_epi32(_mm_and_si128(_mm256_castsi256_si128(w[0]), _mm256_castsi256_si128(m)),
                            _mm_and_si128(_mm256_extracti128_si256(w[0], 1), _mm256_castsi256_si128(m)));
        _mm_storel_epi64((__m128i *)out, _mm_packus_epi16(halves, halves));
    } else if (count == 2) {
        vi_narrow(out, (vi){_mm256_and_si256(w[0], m), _mm256_and_si256(w[1], m)});
    } else {
        for (int v = 0; v < count; v += 4) {
            const __m256i ab = _mm256_packs_epi32(_mm256_and_si256(w[v], m), _mm256_and_si256(w[v + 1], m));
            const __m256i cd = _mm256_packs_epi32(_mm256_and_si256(w[v + 2], m), _mm256_and_si256(w[v + 3], m));
            _mm256_storeu_si256((__m256i *)(out + 8 * v),
                                _mm256_permutevar8x32_epi32(_mm256_packus_epi16(ab, cd), order));
        }
    }
}

#endif

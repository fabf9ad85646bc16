// Sixteen lanes as one AVX-512 register (F, BW, DQ, VL, VBMI, VNNI).
#ifndef ELIZA_KV_LANES_AVX512_H
#define ELIZA_KV_LANES_AVX512_H

#include <immintrin.h>

#include "lanes.h"

typedef __m512 vf;
typedef __m512i vi;
typedef __m128i vb;

KV_INLINE vf vf_set1(float value) { return _mm512_set1_ps(value); }
KV_INLINE vf vf_zero(void) { return _mm512_setzero_ps(); }
KV_INLINE vf vf_load(const float *x) { return _mm512_loadu_ps(x); }
KV_INLINE void vf_store(float *x, vf a) { _mm512_storeu_ps(x, a); }
KV_INLINE vf vf_add(vf a, vf b) { return _mm512_add_ps(a, b); }
KV_INLINE vf vf_sub(vf a, vf b) { return _mm512_sub_ps(a, b); }
KV_INLINE vf vf_mul(vf a, vf b) { return _mm512_mul_ps(a, b); }
KV_INLINE vf vf_fma(vf a, vf b, vf c) { return _mm512_fmadd_ps(a, b, c); }

KV_INLINE float vf_fold(vf a) {
    const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
}

KV_INLINE vf vf_negate(vf a, uint32_t mask) { return _mm512_mask_xor_ps(a, (__mmask16)mask, a, _mm512_set1_ps(-0.0f)); }

// Where the mask is set b − a, elsewhere a + b; b is a with the lanes of each pair exchanged.
KV_INLINE vf butterfly(vf a, vf b, __mmask16 mask) { return _mm512_mask_sub_ps(_mm512_add_ps(a, b), mask, b, a); }

KV_INLINE vf vf_hadamard16(vf a) {
    a = butterfly(a, _mm512_permute_ps(a, 0xb1), 0xaaaa);
    a = butterfly(a, _mm512_permute_ps(a, 0x4e), 0xcccc);
    a = butterfly(a, _mm512_shuffle_f32x4(a, a, 0xb1), 0xf0f0);
    return butterfly(a, _mm512_shuffle_f32x4(a, a, 0x4e), 0xff00);
}

KV_INLINE uint32_t vf_positive(vf a) { return _mm512_cmp_ps_mask(a, _mm512_setzero_ps(), _CMP_GT_OQ); }

KV_INLINE float half_to_float(uint16_t half) { return _cvtsh_ss(half); }

KV_INLINE vf vf_load_half(const uint8_t *bytes) { return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)bytes)); }

KV_INLINE vf vf_lookup16(const float *table, vi index) { return _mm512_permutexvar_ps(index, _mm512_loadu_ps(table)); }

KV_INLINE vf vf_lookup8(const float *table, vi index) { return vf_lookup16(table, index); }

KV_INLINE vi vf_round(vf a) { return _mm512_cvtps_epi32(a); }

typedef __m512 vsearch;

KV_INLINE vsearch vsearch8(const float *thresholds) { return _mm512_loadu_ps(thresholds); }
KV_INLINE vsearch vsearch16(const float *thresholds) { return _mm512_loadu_ps(thresholds); }

// Binary search: `at` is the threshold to look at, half a step from the code.
KV_INLINE vi search_from(vsearch thresholds, vf a, int step) {
    vi at = _mm512_set1_epi32(step - 1);
    for (int s = step; s > 1; s >>= 1) {
        const __mmask16 above = _mm512_cmp_ps_mask(a, _mm512_permutexvar_ps(at, thresholds), _CMP_GE_OQ);
        at = _mm512_sub_epi32(at, _mm512_set1_epi32(s / 2));
        at = _mm512_mask_add_epi32(at, above, at, _mm512_set1_epi32(s));
    }
    const __mmask16 above = _mm512_cmp_ps_mask(a, _mm512_permutexvar_ps(at, thresholds), _CMP_GE_OQ);
    return _mm512_mask_add_epi32(at, above, at, _mm512_set1_epi32(1));
}

KV_INLINE vi vi_codes8(vsearch search, vf a) { return search_from(search, a, 4); }
KV_INLINE vi vi_codes16(vsearch search, vf a) { return search_from(search, a, 8); }

KV_INLINE vi vi_and(vi a, int32_t mask) { return _mm512_and_si512(a, _mm512_set1_epi32(mask)); }
KV_INLINE vi vi_or(vi a, vi b) { return _mm512_or_si512(a, b); }
KV_INLINE vi vi_shl(vi a, int count) { return _mm512_slli_epi32(a, (unsigned)count); }
KV_INLINE vi vi_shr(vi a, int count) { return _mm512_srli_epi32(a, (unsigned)count); }

KV_INLINE vi vi_mask_bit(vi a, uint32_t mask, int bit) {
    return _mm512_mask_or_epi32(a, (__mmask16)mask, a, _mm512_set1_epi32(1 << bit));
}

KV_INLINE void vi_narrow(uint8_t *out, vi a) { _mm_storeu_si128((__m128i *)out, _mm512_cvtepi32_epi8(a)); }
KV_INLINE void vi_narrow16(int16_t *out, vi a) { _mm256_storeu_si256((__m256i *)out, _mm512_cvtepi32_epi16(a)); }

KV_INLINE vb vb_load16(const uint8_t *bytes) { return _mm_loadu_si128((const __m128i *)bytes); }

KV_INLINE vb vb_load_exact(const uint8_t *bytes, int count) {
    return _mm_maskz_loadu_epi8((__mmask16)((1u << count) - 1), bytes);
}

KV_INLINE vi vi_bytes(vb a) { return _mm512_cvtepu8_epi32(a); }

KV_INLINE vi vi_windows(vb a, int step) {
    const vi bit = _mm512_mullo_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
                                      _mm512_set1_epi32(step));
    const vi byte = _mm512_srli_epi32(bit, 3);
    vi shuffle = _mm512_or_si512(byte, _mm512_slli_epi32(_mm512_add_epi32(byte, _mm512_set1_epi32(1)), 8));
    shuffle = _mm512_or_si512(shuffle, _mm512_set1_epi32((int)0x80800000u));
    const vi words = _mm512_shuffle_epi8(_mm512_broadcast_i32x4(a), shuffle);
    return _mm512_srlv_epi32(words, _mm512_and_si512(bit, _mm512_set1_epi32(7)));
}

// ---- the values of a trellis stream: windows and table in bytes (VBMI), 64 states at a time

#define KV_TRELLIS_VALUES

// 32 windows of nine bits as words; higher bits are whatever follows.
KV_INLINE __m512i windows32(__m256i bits, int step) {
    const __m512i bit = _mm512_mullo_epi16(_mm512_set_epi16(31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17,
                                                            16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0),
                                           _mm512_set1_epi16((short)step));
    const __m512i byte = _mm512_srli_epi16(bit, 3);
    const __m512i pair = _mm512_or_si512(byte, _mm512_slli_epi16(_mm512_add_epi16(byte, _mm512_set1_epi16(1)), 8));
    const __m512i words = _mm512_permutexvar_epi8(pair, _mm512_castsi256_si512(bits));
    return _mm512_srlv_epi16(words, _mm512_and_si512(bit, _mm512_set1_epi16(7)));
}

// A table of 512 bytes is four pairs of registers; bits 7 and 8 of a state say which pair.
KV_INLINE __m512i lookup512_bytes(const int8_t *table, __m512i first, __m512i second) {
    const __m512i even_bytes =
        _mm512_set_epi8(126, 124, 122, 120, 118, 116, 114, 112, 110, 108, 106, 104, 102, 100, 98, 96, 94, 92, 90, 88,
                        86, 84, 82, 80, 78, 76, 74, 72, 70, 68, 66, 64, 62, 60, 58, 56, 54, 52, 50, 48, 46, 44, 42, 40,
                        38, 36, 34, 32, 30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    const __m512i low = _mm512_permutex2var_epi8(first, even_bytes, second);
    const __mmask64 bit7 = _mm512_movepi8_mask(low);
    const __m512i bit8 = _mm512_set1_epi16(256);
    const __mmask64 upper =
        (__mmask64)_mm512_test_epi16_mask(second, bit8) << 32 | (__mmask64)_mm512_test_epi16_mask(first, bit8);
    const __m512i *parts = (const __m512i *)table;
    const __m512i a = _mm512_permutex2var_epi8(_mm512_load_si512(parts), low, _mm512_load_si512(parts + 1));
    const __m512i b = _mm512_permutex2var_epi8(_mm512_load_si512(parts + 2), low, _mm512_load_si512(parts + 3));
    const __m512i c = _mm512_permutex2var_epi8(_mm512_load_si512(parts + 4), low, _mm512_load_si512(parts + 5));
    const __m512i d = _mm512_permutex2var_epi8(_mm512_load_si512(parts + 6), low, _mm512_load_si512(parts + 7));
    return _mm512_mask_blend_epi8(upper, _mm512_mask_blend_epi8(bit7, a, b), _mm512_mask_blend_epi8(bit7, c, d));
}

KV_INLINE __m512i states32(int k, int width, const uint8_t *stream, uint16_t beyond, int group) {
    const bool last = group == width / 32 - 1;
    const int count = last ? 4 * k : 4 * k + 2;
    __m256i bits = _mm256_maskz_loadu_epi8((__mmask32)((1ull << count) - 1), stream + 4 * k * group);
    if (last) bits = _mm256_mask_set1_epi16(bits, (__mmask16)(1u << (2 * k)), (short)beyond);
    return windows32(bits, k);
}

// Values of the states along a stream of width·k bits; past them come `beyond`, the bits of its first two bytes.
KV_INLINE void trellis_values_of(int k, int width, const uint8_t *stream, uint16_t beyond, vf *values) {
    for (int base = 0; base < width; base += 64) {
        const __m512i first = states32(k, width, stream, beyond, base / 32);
        const __m512i second = base + 32 < width ? states32(k, width, stream, beyond, base / 32 + 1) : first;
        const __m512i found = lookup512_bytes(trellis_values[k - 1], first, second);
        vf *out = values + base / LANES;
        out[0] = _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm512_castsi512_si128(found)));
        out[1] = _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm512_extracti32x4_epi32(found, 1)));
        if (base + 32 == width) break;
        out[2] = _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm512_extracti32x4_epi32(found, 2)));
        out[3] = _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm512_extracti32x4_epi32(found, 3)));
    }
}

// ---- for viterbi_vector.h

typedef __m512i iv;
typedef __m512i iv_sample;

// Two tiles at a time: a step of one waits for its own survivors about as long as it computes.
enum { IV_LANES = 16, IV_BLOCK = 8, IV_TILES = 2 };

// (value · 2^k, 2 · value²): with (−x, 2^k) one vpdpwssd adds a branch metric, already shifted for its predecessor.
typedef struct branch_entries {
    _Alignas(64) int16_t pair[TRELLIS_STATES][2];
} branch_entries;

KV_INLINE void set_branch(branch_entries *entries, int i, int value, int k) {
    entries->pair[i][0] = (int16_t)(value * (1 << k));
    entries->pair[i][1] = (int16_t)(2 * value * value);
}

KV_INLINE iv iv_load(const int32_t *x) { return _mm512_loadu_si512(x); }
KV_INLINE void iv_store(int32_t *x, iv a) { _mm512_storeu_si512(x, a); }
KV_INLINE iv iv_set1(int32_t value) { return _mm512_set1_epi32(value); }
KV_INLINE iv iv_add(iv a, iv b) { return _mm512_add_epi32(a, b); }
KV_INLINE iv iv_and(iv a, iv b) { return _mm512_and_si512(a, b); }
KV_INLINE iv iv_min(iv a, iv b) { return _mm512_min_epi32(a, b); }

KV_INLINE iv iv_repeat(const int32_t *from, int count) {
    if (count == 1) return _mm512_set1_epi32(from[0]);
    if (count == 2) return _mm512_set1_epi64((long long)read64((const uint8_t *)from));
    return _mm512_broadcast_i32x8(_mm256_loadu_si256((const __m256i *)from));
}

KV_INLINE iv iv_even(iv a, iv b) {
    return _mm512_permutex2var_epi32(a, _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30),
                                     b);
}

KV_INLINE iv iv_odd(iv a, iv b) {
    return _mm512_permutex2var_epi32(a, _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31),
                                     b);
}

KV_INLINE iv iv_low(iv a, iv b) {
    return _mm512_permutex2var_epi32(a, _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23), b);
}

KV_INLINE iv iv_high(iv a, iv b) {
    return _mm512_permutex2var_epi32(a, _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31),
                                     b);
}

#define IV_TRANSPOSE8

// 64 values as a matrix of 8 × 8, turned over in two rounds of permutations.
KV_INLINE void iv_transpose8(iv *w) {
    // rows 2v and 2v + 1 lie in w[v]; first round: columns 0 to 3 and 4 to 7 of four rows, column by column
    const iv left = _mm512_setr_epi32(0, 8, 16, 24, 1, 9, 17, 25, 2, 10, 18, 26, 3, 11, 19, 27);
    const iv right = _mm512_setr_epi32(4, 12, 20, 28, 5, 13, 21, 29, 6, 14, 22, 30, 7, 15, 23, 31);
    const iv a = _mm512_permutex2var_epi32(w[0], left, w[1]);
    const iv b = _mm512_permutex2var_epi32(w[0], right, w[1]);
    const iv c = _mm512_permutex2var_epi32(w[2], left, w[3]);
    const iv d = _mm512_permutex2var_epi32(w[2], right, w[3]);
    const iv first = _mm512_setr_epi32(0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23);
    const iv second = _mm512_setr_epi32(8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31);
    w[0] = _mm512_permutex2var_epi32(a, first, c);
    w[1] = _mm512_permutex2var_epi32(a, second, c);
    w[2] = _mm512_permutex2var_epi32(b, first, d);
    w[3] = _mm512_permutex2var_epi32(b, second, d);
}

KV_INLINE iv_sample make_sample(int16_t x, int k) {
    return _mm512_set1_epi32((int32_t)((uint16_t)-x | (1u << (16 + k))));
}

KV_INLINE iv iv_branch(iv survivors, const branch_entries *entries, int i, iv_sample sample) {
    return _mm512_dpwssd_epi32(survivors, sample, _mm512_load_si512(entries->pair[i]));
}

KV_INLINE void store_choices(uint8_t *out, const iv *w, int count, int32_t mask) {
    const iv m = _mm512_set1_epi32(mask);
    for (int v = 0; v < count; ++v) {
        _mm_storeu_si128((__m128i *)(out + 16 * v), _mm512_cvtepi32_epi8(_mm512_and_si512(w[v], m)));
    }
}

#endif

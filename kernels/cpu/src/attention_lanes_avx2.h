#ifndef ELIZA_ATTENTION_LANES_AVX2_H
#define ELIZA_ATTENTION_LANES_AVX2_H

enum { MATRIX_ROWS = 6, MATRIX_COLUMNS = 1, SCORE_ROWS = 4 };

KV_INLINE vf vf_max(vf a, vf b) { return (vf){_mm256_max_ps(a.low, b.low), _mm256_max_ps(a.high, b.high)}; }
KV_INLINE vf vf_div(vf a, vf b) { return (vf){_mm256_div_ps(a.low, b.low), _mm256_div_ps(a.high, b.high)}; }
KV_INLINE vf vf_of(vi a) { return (vf){_mm256_cvtepi32_ps(a.low), _mm256_cvtepi32_ps(a.high)}; }

KV_INLINE __m256 power2_8(__m256i a) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(a, _mm256_set1_epi32(127)), 23));
}

KV_INLINE vf vf_power2(vi a) { return (vf){power2_8(a.low), power2_8(a.high)}; }

KV_INLINE vi vi_signed(vb a) { return (vi){_mm256_cvtepi8_epi32(a), _mm256_cvtepi8_epi32(_mm_srli_si128(a, 8))}; }

KV_INLINE __m256 bfloats8(const uint8_t *bytes) {
    const __m256i words = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)bytes));
    return _mm256_castsi256_ps(_mm256_slli_epi32(words, 16));
}

KV_INLINE vf vf_load_bfloat(const uint8_t *bytes) { return (vf){bfloats8(bytes), bfloats8(bytes + 16)}; }

KV_INLINE void transpose8(__m256 *r) {
    __m256 a[8];
    __m256 b[8];
    KV_UNROLL
    for (int i = 0; i < 4; ++i) {
        a[2 * i] = _mm256_unpacklo_ps(r[2 * i], r[2 * i + 1]);
        a[2 * i + 1] = _mm256_unpackhi_ps(r[2 * i], r[2 * i + 1]);
    }
    KV_UNROLL
    for (int g = 0; g < 8; g += 4) {
        b[g] = _mm256_shuffle_ps(a[g], a[g + 2], 0x44);
        b[g + 1] = _mm256_shuffle_ps(a[g], a[g + 2], 0xee);
        b[g + 2] = _mm256_shuffle_ps(a[g + 1], a[g + 3], 0x44);
        b[g + 3] = _mm256_shuffle_ps(a[g + 1], a[g + 3], 0xee);
    }
    KV_UNROLL
    for (int c = 0; c < 4; ++c) {
        r[c] = _mm256_permute2f128_ps(b[c], b[4 + c], 0x20);
        r[4 + c] = _mm256_permute2f128_ps(b[c], b[4 + c], 0x31);
    }
}

KV_INLINE void vf_transpose16(vf *rows) {
    __m256 quarter[4][8];
    KV_UNROLL
    for (int i = 0; i < 8; ++i) {
        quarter[0][i] = rows[i].low;
        quarter[1][i] = rows[i].high;
        quarter[2][i] = rows[8 + i].low;
        quarter[3][i] = rows[8 + i].high;
    }
    KV_UNROLL
    for (int q = 0; q < 4; ++q) transpose8(quarter[q]);
    KV_UNROLL
    for (int i = 0; i < 8; ++i) {
        rows[i] = (vf){quarter[0][i], quarter[2][i]};
        rows[8 + i] = (vf){quarter[1][i], quarter[3][i]};
    }
}

#endif

#ifndef ELIZA_ATTENTION_LANES_AVX512_H
#define ELIZA_ATTENTION_LANES_AVX512_H

enum { MATRIX_ROWS = 6, MATRIX_COLUMNS = 4, SCORE_ROWS = 16 };

KV_INLINE vf vf_max(vf a, vf b) { return _mm512_max_ps(a, b); }
#define VF_LARGEST
KV_INLINE float vf_largest(vf a) { return _mm512_reduce_max_ps(a); }

KV_INLINE vf vf_div(vf a, vf b) { return _mm512_div_ps(a, b); }
KV_INLINE vf vf_of(vi a) { return _mm512_cvtepi32_ps(a); }

KV_INLINE vf vf_power2(vi a) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_add_epi32(a, _mm512_set1_epi32(127)), 23));
}

KV_INLINE vi vi_signed(vb a) { return _mm512_cvtepi8_epi32(a); }

KV_INLINE vf vf_load_bfloat(const uint8_t *bytes) {
    const __m512i words = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)bytes));
    return _mm512_castsi512_ps(_mm512_slli_epi32(words, 16));
}

KV_INLINE void vf_transpose16(vf *rows) {
    vf a[16];
    KV_UNROLL
    for (int i = 0; i < 8; ++i) {
        a[2 * i] = _mm512_unpacklo_ps(rows[2 * i], rows[2 * i + 1]);
        a[2 * i + 1] = _mm512_unpackhi_ps(rows[2 * i], rows[2 * i + 1]);
    }
    // column 4·lane + c of rows 4g to 4g + 3 in b[4g + c]
    vf b[16];
    KV_UNROLL
    for (int g = 0; g < 4; ++g) {
        KV_UNROLL
        for (int c = 0; c < 4; ++c) {
            const __m512d x = _mm512_castps_pd(a[4 * g + c / 2]);
            const __m512d y = _mm512_castps_pd(a[4 * g + 2 + c / 2]);
            b[4 * g + c] = _mm512_castpd_ps(c % 2 ? _mm512_unpackhi_pd(x, y) : _mm512_unpacklo_pd(x, y));
        }
    }
    KV_UNROLL
    for (int c = 0; c < 4; ++c) {
        const vf even_low = _mm512_shuffle_f32x4(b[c], b[4 + c], 0x88);
        const vf odd_low = _mm512_shuffle_f32x4(b[c], b[4 + c], 0xdd);
        const vf even_high = _mm512_shuffle_f32x4(b[8 + c], b[12 + c], 0x88);
        const vf odd_high = _mm512_shuffle_f32x4(b[8 + c], b[12 + c], 0xdd);
        rows[c] = _mm512_shuffle_f32x4(even_low, even_high, 0x88);
        rows[8 + c] = _mm512_shuffle_f32x4(even_low, even_high, 0xdd);
        rows[4 + c] = _mm512_shuffle_f32x4(odd_low, odd_high, 0x88);
        rows[12 + c] = _mm512_shuffle_f32x4(odd_low, odd_high, 0xdd);
    }
}

#endif

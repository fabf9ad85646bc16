#if defined(__x86_64__) || defined(_M_X64)

#include <immintrin.h>
#include <math.h>
#include <string.h>

#include "half.h"
#include "turbo4.h"

// A tile is four registers of eight values; element i is lane i % 8 of register i / 8.
typedef struct tile8 {
    __m256 v[4];
} tile8;

static inline tile8 load_tile(const float *x) {
    return (tile8){{_mm256_loadu_ps(x), _mm256_loadu_ps(x + 8), _mm256_loadu_ps(x + 16), _mm256_loadu_ps(x + 24)}};
}

static inline void store_tile(float *x, tile8 t) {
    for (int r = 0; r < 4; ++r) _mm256_storeu_ps(x + 8 * r, t.v[r]);
}

static inline tile8 flip_signs(tile8 a) {
    const __m256i lanes = _mm256_setr_epi32(31, 30, 29, 28, 27, 26, 25, 24);
    for (int r = 0; r < 4; ++r) {
        const __m256i flip = _mm256_sllv_epi32(_mm256_set1_epi32((int)(~turbo4_signs >> (8 * r))), lanes);
        a.v[r] = _mm256_xor_ps(a.v[r], _mm256_castsi256_ps(_mm256_and_si256(flip, _mm256_set1_epi32(INT32_MIN))));
    }
    return a;
}

static inline tile8 scale_by(tile8 a, float factor) {
    for (int r = 0; r < 4; ++r) a.v[r] = _mm256_mul_ps(a.v[r], _mm256_set1_ps(factor));
    return a;
}

// Sum of products over 16 lanes, in the specified order.
static inline float dot_lanes(tile8 a, tile8 b) {
    const __m256 zero = _mm256_setzero_ps();
    __m256 low = _mm256_add_ps(zero, _mm256_mul_ps(a.v[0], b.v[0]));
    __m256 high = _mm256_add_ps(zero, _mm256_mul_ps(a.v[1], b.v[1]));
    low = _mm256_add_ps(low, _mm256_mul_ps(a.v[2], b.v[2]));
    high = _mm256_add_ps(high, _mm256_mul_ps(a.v[3], b.v[3]));
    const __m256 eight = _mm256_add_ps(low, high);
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
}

// Negating by sign bits is exact, so a - b as a + (-b) rounds the same.
static inline __m256 butterfly(__m256 x, __m256 swapped, __m256 negate) {
    return _mm256_add_ps(swapped, _mm256_xor_ps(x, negate));
}

static inline tile8 hadamard(tile8 t) {
    const __m256 n1 = _mm256_castsi256_ps(_mm256_setr_epi32(0, INT32_MIN, 0, INT32_MIN, 0, INT32_MIN, 0, INT32_MIN));
    const __m256 n2 = _mm256_castsi256_ps(_mm256_setr_epi32(0, 0, INT32_MIN, INT32_MIN, 0, 0, INT32_MIN, INT32_MIN));
    const __m256 n4 = _mm256_castsi256_ps(_mm256_setr_epi32(0, 0, 0, 0, INT32_MIN, INT32_MIN, INT32_MIN, INT32_MIN));
    for (int r = 0; r < 4; ++r) {
        __m256 x = t.v[r];
        x = butterfly(x, _mm256_permute_ps(x, 0xB1), n1);
        x = butterfly(x, _mm256_permute_ps(x, 0x4E), n2);
        t.v[r] = butterfly(x, _mm256_permute2f128_ps(x, x, 1), n4);
    }
    const __m256 a = _mm256_add_ps(t.v[0], t.v[1]);
    const __m256 b = _mm256_sub_ps(t.v[0], t.v[1]);
    const __m256 c = _mm256_add_ps(t.v[2], t.v[3]);
    const __m256 d = _mm256_sub_ps(t.v[2], t.v[3]);
    t = (tile8){{_mm256_add_ps(a, c), _mm256_add_ps(b, d), _mm256_sub_ps(a, c), _mm256_sub_ps(b, d)}};
    return scale_by(t, 0.1767766952966369f);
}

static inline tile8 rotate(const float *x) { return hadamard(flip_signs(load_tile(x))); }

static void rotate_tile(const float *x, float *rotated) { store_tile(rotated, rotate(x)); }

// How many thresholds are at most each value: every comparison that holds subtracts its all-ones mask.
static inline __m256i codes_of(__m256 v) {
    __m256i count = _mm256_setzero_si256();
    for (int t = 0; t < TURBO4_CENTROIDS - 1; ++t) {
        const __m256 at_least = _mm256_cmp_ps(v, _mm256_set1_ps(turbo4_thresholds[t]), _CMP_GE_OQ);
        count = _mm256_sub_epi32(count, _mm256_castps_si256(at_least));
    }
    return count;
}

static inline __m256 centroids_of(__m256i codes) {
    const __m256 low = _mm256_permutevar8x32_ps(_mm256_loadu_ps(turbo4_centroids), codes);
    const __m256 high = _mm256_permutevar8x32_ps(_mm256_loadu_ps(turbo4_centroids + 8), codes);
    return _mm256_blendv_ps(low, high, _mm256_castsi256_ps(_mm256_slli_epi32(codes, 28)));
}

static void store_codes(const __m256i codes[4], uint8_t *bytes) {
    int32_t code[TURBO4_TILE];
    for (int r = 0; r < 4; ++r) _mm256_storeu_si256((__m256i *)(code + 8 * r), codes[r]);
    for (int i = 0; i < 16; ++i) bytes[2 + i] = (uint8_t)(code[i] | (code[i + 16] << 4));
}

static void encode_tile(const float *x, uint8_t *bytes, bool reference) {
    memset(bytes, 0, TURBO4_BYTES);
    const tile8 z = rotate(x);
    const float energy = dot_lanes(z, z);
    if (!(energy < INFINITY)) {
        eliza_kv_write_word(bytes, ELIZA_KV_HALF_NAN);
        return;
    }
    if (energy < 0x1p-60f) return;
    const float rms = sqrtf(energy / TURBO4_TILE);
    const tile8 unit = scale_by(z, 1.0f / rms);
    __m256i codes[4] = {_mm256_setzero_si256()};
    float scale = rms;
    if (reference) {
        for (int r = 0; r < 4; ++r) codes[r] = codes_of(unit.v[r]);
    } else {
        float best = -1.0f;
        float fit = 0.0f;
        for (int f = 0; f < TURBO4_FACTORS; ++f) {
            const tile8 scaled = scale_by(unit, turbo4_factors[f]);
            __m256i trial[4];
            tile8 values;
            for (int r = 0; r < 4; ++r) {
                trial[r] = codes_of(scaled.v[r]);
                values.v[r] = centroids_of(trial[r]);
            }
            const float num = dot_lanes(unit, values);
            const float den = dot_lanes(values, values);
            const float explained = num * num / den;
            if (explained > best) {
                best = explained;
                fit = num / den;
                memcpy(codes, trial, sizeof(codes));
            }
        }
        scale = rms * fit;
    }
    eliza_kv_write_word(bytes, eliza_kv_half_from_float(scale));
    store_codes(codes, bytes);
}

static inline tile8 load_centroids(const uint8_t *bytes) {
    const __m128i pairs = _mm_loadu_si128((const __m128i *)(bytes + 2));
    const __m128i nibble = _mm_set1_epi8(15);
    const __m128i low = _mm_and_si128(pairs, nibble);
    const __m128i high = _mm_and_si128(_mm_srli_epi16(pairs, 4), nibble);
    return (tile8){{centroids_of(_mm256_cvtepu8_epi32(low)), centroids_of(_mm256_cvtepu8_epi32(_mm_srli_si128(low, 8))),
                    centroids_of(_mm256_cvtepu8_epi32(high)),
                    centroids_of(_mm256_cvtepu8_epi32(_mm_srli_si128(high, 8)))}};
}

static inline float load_scale(const uint8_t *bytes) { return eliza_kv_float_from_half(eliza_kv_read_word(bytes)); }

static void decode_tile(const uint8_t *bytes, float *x, bool original) {
    tile8 values = scale_by(load_centroids(bytes), load_scale(bytes));
    if (original) values = flip_signs(hadamard(values));
    store_tile(x, values);
}

static float dot(const uint8_t *bytes, const float *prepared, int64_t n) {
    float sum = 0.0f;
    for (int64_t tile = 0; tile < n / TURBO4_TILE; ++tile) {
        const uint8_t *at = bytes + tile * TURBO4_BYTES;
        sum += dot_lanes(load_centroids(at), load_tile(prepared + tile * TURBO4_TILE)) * load_scale(at);
    }
    return sum;
}

const turbo4_kernels turbo4_avx2 = {encode_tile, decode_tile, rotate_tile, dot};

#else
typedef int eliza_kv_no_avx2; // an empty unit is not C
#endif

// Few queries against a tile of coded keys and values: codes are turned into lanes of keys (or of dimensions, for V)
// before they become numbers, and a block's scale meets a sum, not each value.
//
// Nibbles are multiplied in float32. Bytes meet keys' queries in integers (VNNI): a query is three bytes a value, 24
// bits, so that nothing is lost that float32 would have kept.
#ifndef ELIZA_ATTENTION_FEW_AVX512_H
#define ELIZA_ATTENTION_FEW_AVX512_H

#include "attention_codes_avx512.h"

enum { DIGITS = 3, ROWS_AT_ONCE = 4, LARGEST_DIGITS = 8355000 };

// Where the few-query path keeps what it needs, in the buffers that the other path has for keys and values.
typedef struct code_work {
    int8_t *digits;  // [rows][DIGITS][dim] of the queries
    int32_t *offset; // [rows][dim / 32][DIGITS]: −128 times the digits' sums
    float *unit;     // [rows]: what a digit of the last place stands for
    int8_t *keys;    // [16][dim]
    float *key_scales;
    int8_t *values; // [TILE_ROWS][dim]
    float *value_scales;
    float *shares; // [rows][dim / 32][TILE_ROWS]: weights times scales
} code_work;

static code_work place_codes(const attention_work *work, int64_t rows, int64_t dim_k, int64_t dim_v) {
    code_work place;
    place.digits = (int8_t *)work->keys;
    place.keys = place.digits + (rows * DIGITS * dim_k + 63) / 64 * 64;
    place.key_scales = (float *)(place.keys + LANES * dim_k);
    place.offset = (int32_t *)(place.key_scales + dim_k / CODE_BLOCK * LANES);
    place.unit = (float *)(place.offset + rows * DIGITS * (dim_k / CODE_BLOCK));
    place.values = (int8_t *)work->values;
    place.value_scales = (float *)(place.values + TILE_ROWS * dim_v);
    place.shares = place.value_scales + dim_v / CODE_BLOCK * TILE_ROWS;
    return place;
}

// ---- queries

// q as digits of base 256 from −128 to 127, the lowest first. A query that is not finite gets the unit NaN.
static void split_query(const float *query, int64_t dim, int8_t *digits, int32_t *offset, float *unit) {
    vf largest = vf_zero();
    bool finite = true;
    for (int64_t d = 0; d < dim; d += LANES) {
        const vf size = _mm512_abs_ps(vf_load(query + d));
        finite = finite && _mm512_cmp_ps_mask(size, vf_set1(INFINITY), _CMP_LT_OQ) == 0xffff;
        largest = vf_max(size, largest);
    }
    const float most = finite ? vf_largest(largest) : 0.0f;
    *unit = finite ? most / (float)LARGEST_DIGITS : NAN;
    const vf factor = vf_set1(*unit > 0.0f ? 1.0f / *unit : 0.0f);
    const bool tiny = *unit > 0.0f && isinf(1.0f / *unit); // all of it is denormal
    for (int64_t d = 0; d < dim; d += LANES) {
        vi left = finite && !tiny ? vf_round(vf_mul(vf_load(query + d), factor)) : _mm512_setzero_si512();
        for (int place = 0; place < DIGITS; ++place) {
            const vi digit = _mm512_srai_epi32(_mm512_slli_epi32(left, 24), 24);
            vi_narrow((uint8_t *)digits + place * dim + d, digit);
            left = _mm512_srai_epi32(_mm512_sub_epi32(left, digit), 8);
        }
    }
    for (int64_t b = 0; b < dim / CODE_BLOCK; ++b) {
        for (int place = 0; place < DIGITS; ++place) {
            const __m256i block = _mm256_loadu_si256((const __m256i *)(digits + place * dim + b * CODE_BLOCK));
            const __m256i fours = _mm256_dpbusd_epi32(_mm256_setzero_si256(), _mm256_set1_epi8(1), block);
            const int32_t sum = _mm512_reduce_add_epi32(_mm512_zextsi256_si512(fours));
            offset[b * DIGITS + place] = -128 * sum;
        }
    }
}

// ---- keys

// 16 bytes of 16 keys as four vectors: lane j of the i-th holds bytes 4i to 4i + 3 of key j.
KV_INLINE void lanes_of_keys(const uint8_t *const *keys, int64_t offset, vi *words) {
    vi rows[4];
    KV_UNROLL
    for (int i = 0; i < 4; ++i) {
        rows[i] = _mm512_castsi128_si512(vb_load16(keys[i] + offset));
        rows[i] = _mm512_inserti32x4(rows[i], vb_load16(keys[4 + i] + offset), 1);
        rows[i] = _mm512_inserti32x4(rows[i], vb_load16(keys[8 + i] + offset), 2);
        rows[i] = _mm512_inserti32x4(rows[i], vb_load16(keys[12 + i] + offset), 3);
    }
    const vi a = _mm512_unpacklo_epi32(rows[0], rows[1]);
    const vi b = _mm512_unpackhi_epi32(rows[0], rows[1]);
    const vi c = _mm512_unpacklo_epi32(rows[2], rows[3]);
    const vi d = _mm512_unpackhi_epi32(rows[2], rows[3]);
    words[0] = _mm512_unpacklo_epi64(a, c);
    words[1] = _mm512_unpackhi_epi64(a, c);
    words[2] = _mm512_unpacklo_epi64(b, d);
    words[3] = _mm512_unpackhi_epi64(b, d);
}

// out[row][16 keys] = queries · keys
KV_BODY void score_nibbles(int rows, const uint8_t *const *keys, const float *table, const float *scales, int64_t dim,
                           const float *queries, float *out) {
    const vf values = vf_load(table);
    vf total[ROWS_AT_ONCE];
    KV_UNROLL
    for (int r = 0; r < rows; ++r) total[r] = vf_zero();
    for (int64_t b = 0; b < dim / CODE_BLOCK; ++b) {
        const float *q = queries + b * CODE_BLOCK;
        vf sum[ROWS_AT_ONCE][2];
        vi words[4];
        lanes_of_keys(keys, b * NIBBLE_BLOCK + 2, words);
        KV_UNROLL
        for (int r = 0; r < rows; ++r) sum[r][0] = sum[r][1] = vf_zero();
        KV_UNROLL
        for (int i = 0; i < 16; ++i) {
            // a permutation looks at the lowest four bits alone
            const vi code = _mm512_srli_epi32(words[i / 4], (unsigned)(8 * (i % 4)));
            const vf low = _mm512_permutexvar_ps(code, values);
            const vf high = _mm512_permutexvar_ps(_mm512_srli_epi32(words[i / 4], (unsigned)(8 * (i % 4) + 4)), values);
            KV_UNROLL
            for (int r = 0; r < rows; ++r) {
                sum[r][0] = vf_fma(vf_set1(q[r * dim + i]), low, sum[r][0]);
                sum[r][1] = vf_fma(vf_set1(q[r * dim + 16 + i]), high, sum[r][1]);
            }
        }
        const vf scale = vf_load(scales + b * LANES);
        KV_UNROLL
        for (int r = 0; r < rows; ++r) total[r] = vf_fma(vf_add(sum[r][0], sum[r][1]), scale, total[r]);
    }
    KV_UNROLL
    for (int r = 0; r < rows; ++r) vf_store(out + r * TILE_ROWS, total[r]);
}

KV_BODY void score_bytes(int rows, const uint8_t *const *keys, const float *scales, int64_t dim, const int8_t *digits,
                         const int32_t *offset, const float *unit, float *out) {
    const int64_t blocks = dim / CODE_BLOCK;
    vf total[ROWS_AT_ONCE];
    KV_UNROLL
    for (int r = 0; r < rows; ++r) total[r] = vf_zero();
    for (int64_t b = 0; b < blocks; ++b) {
        vi sum[ROWS_AT_ONCE][DIGITS];
        KV_UNROLL
        for (int r = 0; r < rows; ++r) {
            KV_UNROLL
            for (int place = 0; place < DIGITS; ++place) {
                sum[r][place] = _mm512_set1_epi32(offset[(r * blocks + b) * DIGITS + place]);
            }
        }
        KV_UNROLL
        for (int half = 0; half < 2; ++half) {
            vi words[4];
            lanes_of_keys(keys, b * CODE_BLOCK + 16 * half, words);
            KV_UNROLL
            for (int i = 0; i < 4; ++i) {
                const vi values = _mm512_xor_si512(words[i], _mm512_set1_epi8(-128)); // above zero, as VNNI wants one
                const int8_t *q = digits + b * CODE_BLOCK + 16 * half + 4 * i;
                KV_UNROLL
                for (int r = 0; r < rows; ++r) {
                    KV_UNROLL
                    for (int place = 0; place < DIGITS; ++place) {
                        const uint32_t four = read32((const uint8_t *)q + (r * DIGITS + place) * dim);
                        sum[r][place] = _mm512_dpbusd_epi32(sum[r][place], values, _mm512_set1_epi32((int32_t)four));
                    }
                }
            }
        }
        const vf scale = vf_load(scales + b * LANES);
        KV_UNROLL
        for (int r = 0; r < rows; ++r) {
            const vi upper = _mm512_add_epi32(_mm512_slli_epi32(sum[r][2], 8), sum[r][1]);
            const vf whole = vf_fma(vf_of(upper), vf_set1(256.0f), vf_of(sum[r][0]));
            total[r] = vf_fma(whole, scale, total[r]);
        }
    }
    KV_UNROLL
    for (int r = 0; r < rows; ++r) vf_store(out + r * TILE_ROWS, vf_mul(total[r], vf_set1(unit[r])));
}

#define EACH_FEW(rows, CALL)                                                                                           \
    switch (rows) {                                                                                                    \
    case 1:                                                                                                            \
        CALL(1);                                                                                                       \
        break;                                                                                                         \
    case 2:                                                                                                            \
        CALL(2);                                                                                                       \
        break;                                                                                                         \
    case 3:                                                                                                            \
        CALL(3);                                                                                                       \
        break;                                                                                                         \
    default:                                                                                                           \
        CALL(4);                                                                                                       \
    }

// weights[row][keys of the tile] = queries · keys
static void score_codes(const row_codes *codes, const row_reader *reader, const code_work *place,
                        const attention_work *work, int64_t rows, int64_t dim, const key_tile *tile) {
    const int64_t blocks = dim / CODE_BLOCK;
    for (int first = 0; first < tile->count; first += LANES) {
        const int64_t *here = tile->visible + first;
        const int count = tile->count - first < LANES ? tile->count - first : LANES;
        const uint8_t *keys[LANES];
        read_scales(codes, reader, here, count, dim, place->key_scales, LANES);
        if (codes->kind == CODES_BYTES) read_bytes(codes, reader, here, count, dim, place->keys);
        for (int i = 0; i < LANES; ++i) {
            const int key = i < count ? i : count - 1;
            keys[i] = codes->kind == CODES_BYTES ? (const uint8_t *)place->keys + key * dim : row_at(reader, here[key]);
        }
        for (int64_t row = 0; row < rows; row += ROWS_AT_ONCE) {
            float *out = work->weights + row * TILE_ROWS + first;
            const float *queries = work->queries + row * dim;
            const int8_t *digits = place->digits + row * DIGITS * dim;
            const int32_t *offset = place->offset + row * DIGITS * blocks;
#define SCORE_NIBBLES(few) score_nibbles(few, keys, codes->table, place->key_scales, dim, queries, out)
#define SCORE_BYTES(few) score_bytes(few, keys, place->key_scales, dim, digits, offset, place->unit + row, out)
            if (codes->kind == CODES_NIBBLES) {
                EACH_FEW(rows - row, SCORE_NIBBLES)
            } else {
                EACH_FEW(rows - row, SCORE_BYTES)
            }
        }
    }
}

// ---- values

// out[row][64 or 32 dimensions] += shares[row][block][key] · codes
KV_BODY void add_values(int rows, bool nibbles, const uint8_t *const *from, const float *table, int count, int blocks,
                        const float *shares, int64_t row_apart, float *out, int64_t dim) {
    vf values = vf_zero();
    if (nibbles) values = vf_load(table);
    vf sum[ROWS_AT_ONCE][4];
    KV_UNROLL
    for (int r = 0; r < rows; ++r) {
        KV_UNROLL
        for (int i = 0; i < 2 * blocks; ++i) sum[r][i] = vf_load(out + r * dim + LANES * i);
    }
    for (int key = 0; key < count; ++key) {
        KV_UNROLL
        for (int b = 0; b < blocks; ++b) {
            vf low;
            vf high;
            if (nibbles) {
                const vi pairs = vi_bytes(vb_load16(from[key] + b * NIBBLE_BLOCK));
                low = _mm512_permutexvar_ps(pairs, values);
                high = _mm512_permutexvar_ps(_mm512_srli_epi32(pairs, 4), values);
            } else {
                low = vf_of(vi_signed(vb_load16(from[key] + b * CODE_BLOCK)));
                high = vf_of(vi_signed(vb_load16(from[key] + b * CODE_BLOCK + 16)));
            }
            KV_UNROLL
            for (int r = 0; r < rows; ++r) {
                const vf share = vf_set1(shares[r * row_apart + b * TILE_ROWS + key]);
                sum[r][2 * b] = vf_fma(share, low, sum[r][2 * b]);
                sum[r][2 * b + 1] = vf_fma(share, high, sum[r][2 * b + 1]);
            }
        }
    }
    KV_UNROLL
    for (int r = 0; r < rows; ++r) {
        KV_UNROLL
        for (int i = 0; i < 2 * blocks; ++i) vf_store(out + r * dim + LANES * i, sum[r][i]);
    }
}

// work.out[row] += weights[row] · values of the tile
static void add_codes(const row_codes *codes, const row_reader *reader, const code_work *place,
                      const attention_work *work, int64_t rows, int64_t dim, const key_tile *tile) {
    const int64_t blocks = dim / CODE_BLOCK;
    const bool nibbles = codes->kind == CODES_NIBBLES;
    const uint8_t *from[TILE_ROWS];
    read_scales(codes, reader, tile->visible, tile->count, dim, place->value_scales, TILE_ROWS);
    if (!nibbles) read_bytes(codes, reader, tile->visible, tile->count, dim, place->values);
    for (int64_t row = 0; row < rows; ++row) {
        for (int64_t b = 0; b < blocks; ++b) {
            float *shares = place->shares + (row * blocks + b) * TILE_ROWS;
            for (int i = 0; i < tile->padded; i += LANES) {
                const vf weight = vf_load(work->weights + row * TILE_ROWS + i);
                vf_store(shares + i, vf_mul(weight, vf_load(place->value_scales + b * TILE_ROWS + i)));
            }
        }
    }
    for (int64_t b = 0; b < blocks; b += 2) {
        for (int i = 0; i < tile->count; ++i) {
            from[i] = nibbles ? row_at(reader, tile->visible[i]) + b * NIBBLE_BLOCK + 2
                              : (const uint8_t *)place->values + i * dim + b * CODE_BLOCK;
        }
        for (int64_t row = 0; row < rows; row += ROWS_AT_ONCE) {
            const float *shares = place->shares + (row * blocks + b) * TILE_ROWS;
            float *out = work->out + row * dim + b * CODE_BLOCK;
#define ADD(few, kind, wide)                                                                                           \
    add_values(few, kind, from, codes->table, tile->count, wide, shares, blocks *TILE_ROWS, out, dim)
#define ADD_NIBBLES(few) ADD(few, true, 2)
#define ADD_BYTES(few) ADD(few, false, 2)
#define ADD_LAST_NIBBLES(few) ADD(few, true, 1)
#define ADD_LAST_BYTES(few) ADD(few, false, 1)
            if (b + 1 < blocks && nibbles) {
                EACH_FEW(rows - row, ADD_NIBBLES)
            } else if (b + 1 < blocks) {
                EACH_FEW(rows - row, ADD_BYTES)
            } else if (nibbles) {
                EACH_FEW(rows - row, ADD_LAST_NIBBLES)
            } else {
                EACH_FEW(rows - row, ADD_LAST_BYTES)
            }
        }
    }
}

#endif

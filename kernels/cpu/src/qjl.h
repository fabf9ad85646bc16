// qjl1_256: the signs of a 256-wide projection of 128 values, and their length in bf16.
#ifndef ELIZA_KV_QJL_H
#define ELIZA_KV_QJL_H

enum { QJL_BYTES = 34, QJL_SIGN_BYTES = 32, QJL_REGISTERS = QJL_SIGNS / LANES, QJL_PASS = 4 };

// Σ x[i]·P[i][j] in order of i, a few vectors of j at a time so that the sums stay in registers.
KV_BODY void sketch_pass(const float *projection, const float *x, int first, vf *sums) {
    for (int v = 0; v < QJL_PASS; ++v) sums[v] = vf_zero();
    for (int i = 0; i < 128; ++i) {
        const vf value = vf_set1(x[i]);
        const float *entries = projection + i * QJL_SIGNS + first * LANES;
        for (int v = 0; v < QJL_PASS; ++v) sums[v] = vf_add(sums[v], vf_mul(value, vf_load(entries + v * LANES)));
    }
}

KV_BODY void qjl_encode(const float *projection, const float *row, uint8_t *bytes, int64_t n) {
    for (int64_t at = 0; at < n; at += 128, bytes += QJL_BYTES) {
        memset(bytes, 0, QJL_BYTES);
        vf x[MAX_REGISTERS];
        load_tile(x, row + at, 128);
        const float energy = dot_tile(x, x, 128);
        if (!(energy < INFINITY)) {
            eliza_kv_write_word(bytes + QJL_SIGN_BYTES, ELIZA_KV_BFLOAT_NAN);
            continue;
        }
        for (int first = 0; first < QJL_REGISTERS; first += QJL_PASS) {
            vf sums[QJL_PASS];
            sketch_pass(projection, row + at, first, sums);
            for (int v = 0; v < QJL_PASS; ++v) {
                eliza_kv_write_word(bytes + 2 * (first + v), (uint16_t)vf_positive(sums[v]));
            }
        }
        eliza_kv_write_word(bytes + QJL_SIGN_BYTES, eliza_kv_bfloat_from_float(sqrtf(energy)));
    }
}

KV_BODY float qjl_scale(const uint8_t *bytes) {
    return eliza_kv_float_from_bfloat(read16(bytes + QJL_SIGN_BYTES)) * QJL_SCALE[0];
}

KV_BODY void qjl_decode(const float *projection, const uint8_t *bytes, float *row, int64_t n, bool original) {
    for (int64_t at = 0; at < n; at += 128, bytes += QJL_BYTES) {
        const vf scale = vf_set1(qjl_scale(bytes));
        vf rotated[QJL_REGISTERS];
        for (int r = 0; r < QJL_REGISTERS; ++r)
            rotated[r] = vf_negate(scale, ~(uint32_t)read16(bytes + 2 * r) & 0xffffu);
        if (!original) {
            for (int r = 0; r < QJL_REGISTERS; ++r) vf_store(row + 2 * at + LANES * r, rotated[r]);
            continue;
        }
        for (int i = 0; i < 128; ++i) {
            vf sum = vf_zero();
            for (int r = 0; r < QJL_REGISTERS; ++r) {
                sum = vf_add(sum, vf_mul(vf_load(projection + i * QJL_SIGNS + LANES * r), rotated[r]));
            }
            row[at + i] = vf_fold(sum);
        }
    }
}

KV_BODY void qjl_prepare(const float *projection, const float *query, uint8_t *prepared, int64_t n) {
    for (int64_t at = 0; at < n; at += 128) {
        for (int first = 0; first < QJL_REGISTERS; first += QJL_PASS) {
            vf sums[QJL_PASS];
            float sketch[QJL_PASS * LANES];
            sketch_pass(projection, query + at, first, sums);
            store_tile(sketch, sums, QJL_PASS * LANES);
            for (int j = 0; j < QJL_PASS * LANES; ++j, prepared += 2) {
                eliza_kv_write_word(prepared, eliza_kv_half_from_float(sketch[j]));
            }
        }
    }
}

static float qjl_dot(const uint8_t *bytes, const void *prepared, int64_t n) {
    const uint8_t *sketch = prepared;
    vf sum = vf_zero();
    for (int64_t at = 0; at < n; at += 128, bytes += QJL_BYTES, sketch += 2 * QJL_SIGNS) {
        vf signed_sum[2] = {vf_zero(), vf_zero()};
        for (int r = 0; r < QJL_REGISTERS; ++r) {
            const uint32_t negative = ~(uint32_t)read16(bytes + 2 * r) & 0xffffu;
            signed_sum[r % 2] = vf_add(signed_sum[r % 2], vf_negate(vf_load_half(sketch + 2 * LANES * r), negative));
        }
        sum = vf_fma(vf_add(signed_sum[0], signed_sum[1]), vf_set1(qjl_scale(bytes)), sum);
    }
    return vf_fold(sum);
}

#define DEFINE_QJL(format, projection)                                                                                 \
    static void format##_encode(const float *row, uint8_t *bytes, int64_t n, bool reference) {                         \
        (void)reference; /* the two encoders are one */                                                                \
        qjl_encode(projection, row, bytes, n);                                                                         \
    }                                                                                                                  \
    static void format##_decode(const uint8_t *bytes, float *row, int64_t n, bool original) {                          \
        qjl_decode(projection, bytes, row, n, original);                                                               \
    }                                                                                                                  \
    static void format##_prepare(const float *query, void *prepared, int64_t n) {                                      \
        qjl_prepare(projection, query, prepared, n);                                                                   \
    }
DEFINE_QJL(qjl1_256, qjl_orthogonal)
DEFINE_QJL(qjl1_256_iid, qjl_iid)

#endif

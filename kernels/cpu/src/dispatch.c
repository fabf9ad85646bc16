// The public functions: each passes its row to the instruction set in use.
#include "eliza_kv.h"
#include "half.h"
#include "isa.h"
#include "kernels.h"

static const kernel_set *const SETS[ELIZA_KV_ISA_COUNT] = {
    [ELIZA_KV_SCALAR] = &kernels_scalar,
#if defined(__x86_64__) || defined(_M_X64)
    [ELIZA_KV_AVX2] = &kernels_avx2,
    [ELIZA_KV_AVX512] = &kernels_avx512,
#elif defined(__aarch64__)
    [ELIZA_KV_NEON] = &kernels_neon,
#endif
};

static inline const kernel_set *kernels(void) { return SETS[eliza_kv_isa_id()]; }

#define DEFINE(format, ...)                                                                                            \
    void eliza_kv_##format##_encode(const float *row, void *bytes, int64_t n) {                                        \
        kernels()->format.encode(row, bytes, n, false);                                                                \
    }                                                                                                                  \
    void eliza_kv_##format##_encode_reference(const float *row, void *bytes, int64_t n) {                              \
        kernels()->format.encode(row, bytes, n, true);                                                                 \
    }                                                                                                                  \
    void eliza_kv_##format##_decode(const void *bytes, float *row, int64_t n) {                                        \
        kernels()->format.decode(bytes, row, n, true);                                                                 \
    }                                                                                                                  \
    void eliza_kv_##format##_decode_rotated(const void *bytes, float *row, int64_t n) {                                \
        kernels()->format.decode(bytes, row, n, false);                                                                \
    }                                                                                                                  \
    void eliza_kv_##format##_prepare_query(const float *query, void *prepared, int64_t n) {                            \
        kernels()->format.prepare(query, prepared, n);                                                                 \
    }                                                                                                                  \
    void eliza_kv_##format##_dot(int n, float *score, size_t bs, const void *bytes, size_t bx, const void *prepared,   \
                                 size_t by, int nrc) {                                                                 \
        (void)bs, (void)bx, (void)by, (void)nrc;                                                                       \
        *score = kernels()->format.dot(bytes, prepared, n);                                                            \
    }

ELIZA_KV_EACH(DEFINE)

void eliza_kv_qjl1_256_pack_query(const float *sketch, void *prepared, int64_t n) {
    uint8_t *out = prepared;
    for (int64_t i = 0; i < 2 * n; ++i) eliza_kv_write_word(out + 2 * i, eliza_kv_half_from_float(sketch[i]));
}

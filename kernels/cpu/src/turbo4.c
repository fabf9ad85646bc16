#include "turbo4.h"

#include "eliza_kv.h"
#include "isa.h"

static const turbo4_kernels *kernels(void) {
#if defined(__x86_64__) || defined(_M_X64)
    if (eliza_kv_isa_id() == ELIZA_KV_AVX2) return &turbo4_avx2;
#endif
    return &turbo4_scalar;
}

static void encode(const float *row, uint8_t *bytes, int64_t n, bool reference) {
    const turbo4_kernels *use = kernels();
    for (int64_t tile = 0; tile < n / TURBO4_TILE; ++tile) {
        use->encode_tile(row + tile * TURBO4_TILE, bytes + tile * TURBO4_BYTES, reference);
    }
}

static void decode(const uint8_t *bytes, float *row, int64_t n, bool original) {
    const turbo4_kernels *use = kernels();
    for (int64_t tile = 0; tile < n / TURBO4_TILE; ++tile) {
        use->decode_tile(bytes + tile * TURBO4_BYTES, row + tile * TURBO4_TILE, original);
    }
}

void eliza_kv_turbo4_encode(const float *row, void *bytes, int64_t n) { encode(row, bytes, n, false); }
void eliza_kv_turbo4_encode_reference(const float *row, void *bytes, int64_t n) { encode(row, bytes, n, true); }
void eliza_kv_turbo4_decode(const void *bytes, float *row, int64_t n) { decode(bytes, row, n, true); }
void eliza_kv_turbo4_decode_rotated(const void *bytes, float *row, int64_t n) { decode(bytes, row, n, false); }

void eliza_kv_turbo4_rotate_query(const float *query, void *prepared, int64_t n) {
    const turbo4_kernels *use = kernels();
    for (int64_t at = 0; at < n; at += TURBO4_TILE) use->rotate_tile(query + at, (float *)prepared + at);
}

void eliza_kv_turbo4_dot(int n, float *score, size_t bs, const void *bytes, size_t bx, const void *prepared,
                         size_t by, int nrc) {
    (void)bs, (void)bx, (void)by, (void)nrc;
    *score = kernels()->dot(bytes, prepared, n);
}

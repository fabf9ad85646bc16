// What one instruction set does for each format, on rows of n values. Each kernels_<isa>.c fills one set.
#ifndef ELIZA_KV_KERNELS_H
#define ELIZA_KV_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

#include "eliza_kv.h"

typedef struct row_kernels {
    void (*encode)(const float *row, uint8_t *bytes, int64_t n, bool reference);
    // original: turned back; otherwise left in the rotated basis
    void (*decode)(const uint8_t *bytes, float *row, int64_t n, bool original);
    void (*prepare)(const float *query, void *prepared, int64_t n);
    float (*dot)(const uint8_t *bytes, const void *prepared, int64_t n);
} row_kernels;

typedef struct kernel_set {
#define ELIZA_KV_FIELD(format, ...) row_kernels format;
    ELIZA_KV_EACH(ELIZA_KV_FIELD)
#undef ELIZA_KV_FIELD
} kernel_set;

extern const kernel_set kernels_scalar;
#if defined(__x86_64__) || defined(_M_X64)
extern const kernel_set kernels_avx2;
extern const kernel_set kernels_avx512;
#elif defined(__aarch64__)
extern const kernel_set kernels_neon;
#endif

#endif

// turbo4, tile by tile: 32 values in 18 bytes (docs/formats.md). One set of functions per instruction set.
#ifndef ELIZA_KV_TURBO4_H
#define ELIZA_KV_TURBO4_H

#include <stdbool.h>
#include <stdint.h>

enum { TURBO4_TILE = 32, TURBO4_BYTES = 18, TURBO4_CENTROIDS = 16, TURBO4_FACTORS = 12 };

typedef struct turbo4_kernels {
    void (*encode_tile)(const float *x, uint8_t *bytes, bool reference);
    // original: turned back; otherwise left in the rotated basis
    void (*decode_tile)(const uint8_t *bytes, float *x, bool original);
    void (*rotate_tile)(const float *x, float *rotated);
    float (*dot)(const uint8_t *bytes, const float *prepared, int64_t n);
} turbo4_kernels;

extern const turbo4_kernels turbo4_scalar;
#if defined(__x86_64__) || defined(_M_X64)
extern const turbo4_kernels turbo4_avx2;
#endif

extern const float turbo4_centroids[TURBO4_CENTROIDS];
extern const float turbo4_thresholds[TURBO4_CENTROIDS - 1];
extern const float turbo4_factors[TURBO4_FACTORS];
// bit i set: element i keeps its sign before the transform
extern const uint32_t turbo4_signs;

#endif

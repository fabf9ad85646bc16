// Every format in the vector operations that were included before, as one kernel_set.
#ifndef ELIZA_KV_KERNEL_SET_H
#define ELIZA_KV_KERNEL_SET_H

#include "kernels.h"
#include "rotation.h"
#include "normalise.h"
#include "scale_search.h"
#include "tiles.h"
#include "scalar_formats.h"
#include "trellis.h"
#include "mixed.h"
#include "qjl.h"

static void rotate_row_32(const float *query, void *prepared, int64_t n) { rotate_row(query, prepared, n, 32); }
static void rotate_row_64(const float *query, void *prepared, int64_t n) { rotate_row(query, prepared, n, 64); }
static void rotate_row_128(const float *query, void *prepared, int64_t n) { rotate_row(query, prepared, n, 128); }

#define MIXED_SET(name, prepare)                                                                                       \
    { name##_encode, name##_decode, prepare, name##_dot }

#define KERNEL_SET                                                                                                     \
    {                                                                                                                  \
        .turbo4 = {turbo4_encode, turbo4_decode, rotate_row_32, turbo4_dot},                                           \
        .tbq3 = {tbq3_encode, tbq3_decode, rotate_row_32, tbq3_dot},                                                   \
        .turbo3 = {turbo3_encode, turbo3_decode, rotate_row_128, turbo3_dot},                                          \
        .turbo3_64 = {turbo3_64_encode, turbo3_64_decode, rotate_row_64, turbo3_dot},                                  \
        .turbo3_tcq = {turbo3_tcq_encode, turbo3_tcq_decode, rotate_row_128, turbo3_tcq_dot},                          \
        .turbo3_tcq_64 = {turbo3_tcq_64_encode, turbo3_tcq_64_decode, rotate_row_64, turbo3_tcq_64_dot},               \
        .turbo4_tcq = {turbo4_tcq_encode, turbo4_tcq_decode, rotate_row_128, turbo4_tcq_dot},                          \
        .turbo4_tcq_64 = {turbo4_tcq_64_encode, turbo4_tcq_64_decode, rotate_row_64, turbo4_tcq_64_dot},               \
        .turbo2_tcq = {turbo2_tcq_encode, turbo2_tcq_decode, rotate_row_128, turbo2_tcq_dot},                          \
        .turbo2_tcq_64 = {turbo2_tcq_64_encode, turbo2_tcq_64_decode, rotate_row_64, turbo2_tcq_64_dot},               \
        .qjl1_256 = {qjl1_256_encode, qjl1_256_decode, qjl1_256_prepare, qjl_dot},                                     \
        .qjl1_256_iid = {qjl1_256_iid_encode, qjl1_256_iid_decode, qjl1_256_iid_prepare, qjl_dot},                     \
        .q4_polar = {polar_encode, polar_decode, polar_prepare, polar_dot},                                            \
        .turbo4_mix_64 = MIXED_SET(turbo4_mix_64, rotate_row_32),                                                      \
        .turbo4_mix_128 = MIXED_SET(turbo4_mix_128, rotate_row_32),                                                    \
        .turbo4_mix_256 = MIXED_SET(turbo4_mix_256, rotate_row_64),                                                    \
        .turbo4_mix_512 = MIXED_SET(turbo4_mix_512, rotate_row_128),                                                   \
        .turbo3_mix_64 = MIXED_SET(turbo3_mix_64, rotate_row_32),                                                      \
        .turbo3_mix_128 = MIXED_SET(turbo3_mix_128, rotate_row_32),                                                    \
        .turbo3_mix_256 = MIXED_SET(turbo3_mix_256, rotate_row_64),                                                    \
        .turbo3_mix_512 = MIXED_SET(turbo3_mix_512, rotate_row_128),                                                   \
        .turbo2_mix_64 = MIXED_SET(turbo2_mix_64, rotate_row_32),                                                      \
        .turbo2_mix_128 = MIXED_SET(turbo2_mix_128, rotate_row_32),                                                    \
        .turbo2_mix_256 = MIXED_SET(turbo2_mix_256, rotate_row_64),                                                    \
        .turbo2_mix_512 = MIXED_SET(turbo2_mix_512, rotate_row_128),                                                   \
    }

#endif

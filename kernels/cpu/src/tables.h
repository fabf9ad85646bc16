// The constants of the formats, from kernels/tables. Small ones are visible to the compiler, large ones are linked.
#ifndef ELIZA_KV_TABLES_H
#define ELIZA_KV_TABLES_H

#include <stdint.h>

enum { SEARCH_FACTORS = 12, TRELLIS_STATES = 512, TRELLIS_RATES = 6, QJL_SIGNS = 256 };

// bit i mod 32 of word i / 32 set: element i keeps its sign
static const uint32_t SIGNS_32[1] = {
#include "signs-32.inc"
};
static const uint32_t SIGNS_1[4] = {
#include "signs-1.inc"
};
static const uint32_t SIGNS_2[4] = {
#include "signs-2.inc"
};

// Thresholds are padded to a whole vector; the padding is never read as one.
typedef struct scalar_table {
    float centroids[16];
    float thresholds[16];
    float factors[SEARCH_FACTORS];
    int codes; // 16 or 8
} scalar_table;

static const scalar_table TURBO4_TABLE = {
    .centroids =
        {
#include "turbo4-centroids.inc"
        },
    .thresholds =
        {
#include "turbo4-thresholds.inc"
        },
    .factors =
        {
#include "turbo4-factors.inc"
        },
    .codes = 16,
};
static const scalar_table TBQ3_TABLE = {
    .centroids =
        {
#include "tbq3-centroids.inc"
        },
    .thresholds =
        {
#include "tbq3-thresholds.inc"
        },
    .factors =
        {
#include "tbq3-factors.inc"
        },
    .codes = 8,
};
static const scalar_table TURBO3_TABLE = {
    .centroids =
        {
#include "turbo3-centroids.inc"
        },
    .thresholds =
        {
#include "turbo3-thresholds.inc"
        },
    .factors =
        {
#include "turbo3-factors.inc"
        },
    .codes = 8,
};
static const scalar_table POLAR_TABLE = {
    .centroids =
        {
#include "q4-polar-centroids.inc"
        },
    .thresholds =
        {
#include "q4-polar-thresholds.inc"
        },
    .factors =
        {
#include "q4-polar-factors.inc"
        },
    .codes = 16,
};

static const float TRELLIS_STEPS[TRELLIS_RATES] = {
#include "trellis-steps.inc"
};
static const float TRELLIS_SAMPLE_SCALES[TRELLIS_RATES] = {
#include "trellis-sample-scales.inc"
};
// samples on each side of the wrap that settle the state there
static const int TRELLIS_CONTEXTS[TRELLIS_RATES] = {
#include "trellis-contexts.inc"
};
static const float TRELLIS_PREFIXED_STEP[1] = {
#include "trellis-prefixed-step.inc"
};
static const float QJL_SCALE[1] = {
#include "qjl-scale.inc"
};

// By rate − 1: what the state after a symbol stands for, −127 to 127, as bytes and as float32.
extern const int8_t trellis_values[TRELLIS_RATES][TRELLIS_STATES];
extern const float trellis_floats[TRELLIS_RATES][TRELLIS_STATES];

// 128 rows of 256
extern const float qjl_orthogonal[128 * QJL_SIGNS];
extern const float qjl_iid[128 * QJL_SIGNS];

#endif

#include "tables.h"

#define ALIGNED __attribute__((aligned(64)))

ALIGNED const int8_t trellis_values[TRELLIS_RATES][TRELLIS_STATES] = {
    {
#include "trellis-1-values.inc"
    },
    {
#include "trellis-2-values.inc"
    },
    {
#include "trellis-3-values.inc"
    },
    {
#include "trellis-4-values.inc"
    },
    {
#include "trellis-5-values.inc"
    },
    {
#include "trellis-6-values.inc"
    },
};

ALIGNED const float trellis_floats[TRELLIS_RATES][TRELLIS_STATES] = {
    {
#include "trellis-1-values.inc"
    },
    {
#include "trellis-2-values.inc"
    },
    {
#include "trellis-3-values.inc"
    },
    {
#include "trellis-4-values.inc"
    },
    {
#include "trellis-5-values.inc"
    },
    {
#include "trellis-6-values.inc"
    },
};

ALIGNED const float qjl_orthogonal[128 * QJL_SIGNS] = {
#include "qjl-orthogonal.inc"
};

ALIGNED const float qjl_iid[128 * QJL_SIGNS] = {
#include "qjl-iid.inc"
};

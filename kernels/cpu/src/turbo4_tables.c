#include "turbo4.h"

const float turbo4_centroids[TURBO4_CENTROIDS] = {
#include "turbo4-centroids.inc"
};
const float turbo4_thresholds[TURBO4_CENTROIDS - 1] = {
#include "turbo4-thresholds.inc"
};
const float turbo4_factors[TURBO4_FACTORS] = {
#include "turbo4-factors.inc"
};
const uint32_t turbo4_signs =
#include "signs-32.inc"
    ;

// scores[head][t]: q4_polar rows against queries that H128 has been applied to.
#include "polar.cuh"
#include "score.cuh"

ELIZA_FOR_ROWS_AND_HEADS(ELIZA_SCORE_KERNEL, eliza_polar_preht_score, Polar)

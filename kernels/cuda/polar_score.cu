// scores[head][t]: q4_polar rows against queries in the original basis.
#include "polar.cuh"
#include "score.cuh"

ELIZA_FOR_ROWS_AND_HEADS(ELIZA_SCORE_KERNEL, eliza_polar_score, PolarOriginal)

// y = A x for a matrix of q4_polar rows and a vector in the original basis.
#include "polar.cuh"
#include "score.cuh"

ELIZA_FOR_ROWS(ELIZA_MUL_MV_KERNEL, eliza_polar_mul_mv, PolarOriginal)

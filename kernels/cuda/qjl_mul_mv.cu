// y[r]: every qjl1_256 row of a matrix against one sketch. n_cols counts values before projection.
#include "qjl.cuh"
#include "score.cuh"

ELIZA_FOR_ROWS(ELIZA_MUL_MV_KERNEL, eliza_qjl_mul_mv, Qjl)

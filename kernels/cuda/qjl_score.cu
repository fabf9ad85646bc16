// scores[head][t]: qjl1_256 rows against sketched queries.
#include "qjl.cuh"
#include "score.cuh"

ELIZA_FOR_ROWS_AND_HEADS(ELIZA_SCORE_KERNEL, eliza_qjl_score, Qjl)

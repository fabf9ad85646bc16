// scores[head][t]: qjl1_256 rows against sketched queries.
#include "qjl.h"
#include "score.h"

kernel void eliza_qjl_score(device const ushort *rows [[buffer(0)]],
                        device const float *queries [[buffer(1)]],
                        device float *scores [[buffer(2)]],
                        constant ScoreParams &params [[buffer(3)]],
                        threadgroup uint *memory [[threadgroup(0)]],
                        uint thread_index [[thread_index_in_threadgroup]],
                        uint3 position [[threadgroup_position_in_grid]]) {
    score<Qjl>(rows, queries, scores, {}, params, memory, thread_index, position);
}

// y[r]: every qjl1_256 row of a matrix against one sketch. n_cols counts values before projection.
#include "qjl.h"
#include "score.h"

kernel void eliza_qjl_mul_mv(device const ushort *rows [[buffer(0)]],
                        device const float *vector [[buffer(1)]],
                        device float *result [[buffer(2)]],
                        constant MatrixParams &params [[buffer(3)]],
                        threadgroup uint *memory [[threadgroup(0)]],
                        uint thread_index [[thread_index_in_threadgroup]],
                        uint3 position [[threadgroup_position_in_grid]]) {
    mul_mv<Qjl>(rows, vector, result, params, memory, thread_index, position);
}

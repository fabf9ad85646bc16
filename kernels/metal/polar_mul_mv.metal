// y = A x for a matrix of q4_polar rows and a vector in the original basis.
#include "polar.h"
#include "score.h"

kernel void eliza_polar_mul_mv(device const ushort *rows [[buffer(0)]],
                        device const float *vector [[buffer(1)]],
                        device float *result [[buffer(2)]],
                        constant MatrixParams &params [[buffer(3)]],
                        threadgroup uint *memory [[threadgroup(0)]],
                        uint thread_index [[thread_index_in_threadgroup]],
                        uint3 position [[threadgroup_position_in_grid]]) {
    mul_mv<PolarOriginal>(rows, vector, result, params, memory, thread_index, position);
}

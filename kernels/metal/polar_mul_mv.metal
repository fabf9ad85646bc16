// y = A x for a matrix of q4_polar rows and a vector in the original basis.
#include "polar-rows.h"
#include "matrix-params.h"

kernel void eliza_polar_mul_mv(device const ushort *rows [[buffer(0)]],
                               device const float *query [[buffer(1)]],
                               device float *result [[buffer(2)]],
                               constant MatrixParams &p [[buffer(3)]],
                               threadgroup float *memory [[threadgroup(0)]],
                               uint thread_index [[thread_index_in_threadgroup]],
                               uint3 position [[threadgroup_position_in_grid]]) {
    const uint row = position.x * ROWS + team_row(thread_index);
    const float product = polar_row(rows, row * p.row_stride, row < p.n_rows, query, p.n_cols / 128, p.flags, memory,
                                    thread_index);
    if (row < p.n_rows && team_lane(thread_index) == 0) result[row] = product;
}

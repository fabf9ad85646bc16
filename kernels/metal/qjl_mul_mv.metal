// y[r]: every qjl1_256 row of a matrix against one sketch. n_cols counts values before projection.
#include "qjl.h"
#include "matrix-params.h"

kernel void eliza_qjl_mul_mv(device const ushort *rows [[buffer(0)]],
                             device const float4 *sketch [[buffer(1)]],
                             device float *result [[buffer(2)]],
                             constant MatrixParams &p [[buffer(3)]],
                             threadgroup float *memory [[threadgroup(0)]],
                             uint thread_index [[thread_index_in_threadgroup]],
                             uint3 position [[threadgroup_position_in_grid]]) {
    const uint row = position.x * ROWS + team_row(thread_index);
    float sum = 0;
    if (row < p.n_rows) {
        for (uint unit = team_lane(thread_index); unit < p.n_cols * Qjl::QUERY_PER_VALUE / 16; unit += team_size()) {
            float v[16];
            const float scale = Qjl::decode({}, memory, p.flags, rows, row * p.row_stride, unit, v);
            const uint2 place = Qjl::places(unit);
            sum += scale * (dot8(v, sketch + place.x / 4) + dot8(v + 8, sketch + place.y / 4));
        }
    }
    const float product = team_sum(sum, memory, thread_index);
    if (row < p.n_rows && team_lane(thread_index) == 0) result[row] = product;
}

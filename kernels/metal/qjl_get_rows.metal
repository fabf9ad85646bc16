// out[i] = row ids[i] of a matrix of qjl1_256 rows, the signs taken back through the projection. A threadgroup
// decodes one block of 128 values.
#include "qjl.h"
#include "params.h"

kernel void eliza_qjl_get_rows(device const ushort *rows [[buffer(0)]],
                               device const uint *ids [[buffer(1)]],
                               device float *result [[buffer(2)]],
                               device const float4 *projection [[buffer(3)]], // [128][256]
                               constant MatrixParams &p [[buffer(4)]],
                               threadgroup uint *memory [[threadgroup(0)]],
                               uint thread_index [[thread_index_in_threadgroup]],
                               uint3 position [[threadgroup_position_in_grid]]) {
    const uint first = position.y * SLICE;
    stage_rows(rows, ids[position.x] * p.row_stride + Qjl::offset({}, first), p.row_stride, 34, 1, memory, thread_index);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = thread_index; i < SLICE; i += THREADS) {
        float sum = 0, scale = 0;
        for (uint unit = 0; unit < 16; unit++) {
            float signs[16];
            scale = Qjl::decode({}, memory, p.flags, memory, 0, 0, unit, signs);
            for (uint j = 0; j < 4; j++)
                sum += dot(float4(signs[4 * j], signs[4 * j + 1], signs[4 * j + 2], signs[4 * j + 3]),
                           projection[i * 64 + unit * 4 + j]);
        }
        result[position.x * p.n_cols + first + i] = scale * sum;
    }
}

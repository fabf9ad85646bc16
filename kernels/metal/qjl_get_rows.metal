// out[i] = row ids[i] of a matrix of qjl1_256 rows, the signs taken back through the projection. A threadgroup
// decodes one block of 128 values.
#include "qjl.h"
#include "matrix-params.h"

kernel void eliza_qjl_get_rows(device const ushort *rows [[buffer(0)]],
                               device const uint *ids [[buffer(1)]],
                               device float *result [[buffer(2)]],
                               device const float4 *projection [[buffer(3)]], // [128][256]
                               constant MatrixParams &p [[buffer(4)]],
                               threadgroup float *memory [[threadgroup(0)]],
                               uint thread_index [[thread_index_in_threadgroup]],
                               uint3 position [[threadgroup_position_in_grid]]) {
    const uint t = position.y;
    const uint at = ids[position.x] * p.row_stride;
    for (uint i = thread_index; i < 128; i += THREADS) {
        float sum = 0, scale = 0;
        for (uint unit = 0; unit < 16; unit++) {
            float signs[16];
            scale = Qjl::decode({}, memory, p.flags, rows, at, t * 16 + unit, signs);
            sum += dot8(signs, projection + i * 64 + unit * 4) + dot8(signs + 8, projection + i * 64 + unit * 4 + 2);
        }
        result[position.x * p.n_cols + t * 128 + i] = scale * sum;
    }
}

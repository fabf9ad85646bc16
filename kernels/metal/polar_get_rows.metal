// out[i] = row ids[i] of a matrix of q4_polar rows, decoded to the original basis. A threadgroup decodes one tile.
#include "polar.h"
#include "hadamard.h"
#include "matrix-params.h"

kernel void eliza_polar_get_rows(device const ushort *rows [[buffer(0)]],
                                 device const uint *ids [[buffer(1)]],
                                 device float *result [[buffer(2)]],
                                 constant MatrixParams &p [[buffer(3)]],
                                 threadgroup float *memory [[threadgroup(0)]],
                                 uint thread_index [[thread_index_in_threadgroup]],
                                 uint3 position [[threadgroup_position_in_grid]]) {
    threadgroup float *levels = memory;
    threadgroup float *tile = memory + 16;
    const uint t = position.y;
    Polar::stage({}, levels, thread_index);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint unit = thread_index; unit < 8; unit += THREADS) {
        float v[16];
        const float scale = Polar::decode({}, levels, p.flags, rows, ids[position.x] * p.row_stride, t * 8 + unit, v);
        for (uint i = 0; i < 16; i++) tile[unit * 16 + i] = scale * v[i];
    }
    hadamard_tile(tile, thread_index);
    for (uint i = thread_index; i < 128; i += THREADS) result[position.x * p.n_cols + t * 128 + i] = tile[i];
}

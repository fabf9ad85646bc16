// out[i] = row ids[i] of a matrix of q4_polar rows, decoded to the original basis. A threadgroup decodes one tile.
#include "polar.h"
#include "hadamard.h"
#include "params.h"

kernel void eliza_polar_get_rows(device const ushort *rows [[buffer(0)]],
                                 device const uint *ids [[buffer(1)]],
                                 device float *result [[buffer(2)]],
                                 constant MatrixParams &p [[buffer(3)]],
                                 threadgroup uint *memory [[threadgroup(0)]],
                                 uint thread_index [[thread_index_in_threadgroup]],
                                 uint3 position [[threadgroup_position_in_grid]]) {
    threadgroup uint *row_slice = memory + Polar::SHARED_WORDS;
    threadgroup float *tile = (threadgroup float *)(row_slice + SLICE_WORDS);
    const uint first = position.y * SLICE;
    Polar::stage({}, memory, thread_index);
    stage_rows(rows, ids[position.x] * p.row_stride + Polar::offset({}, first), p.row_stride, 82, 1, row_slice,
               thread_index);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint unit = thread_index; unit < 8; unit += THREADS) {
        float v[16];
        const float scale = Polar::decode({}, memory, p.flags, row_slice, 0, 0, unit, v);
        for (uint i = 0; i < 16; i++) tile[unit * 16 + i] = scale * v[i];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    hadamard_slices(tile, 1, thread_index);
    for (uint i = thread_index; i < SLICE; i += THREADS) result[position.x * p.n_cols + first + i] = tile[i];
}

// Decodes cached rows; kernels/portable/get_rows.inc says how.
#include "portable.h"

constant uint THREADS = 64;
#define HEAD_DIM p.head_dim

#include "../portable/cache_formats.inc"
#include "../portable/get_rows_params.inc"

struct GetRows {
    device const ushort *rows;
    device const uint *ids;
    device uint *result;
    device const uint *codebooks; // int8 [6][512], by bits a symbol
    device const float *projection;
    constant GetRowsParams &p;
    uint thread_index, group_index;
    threadgroup float *turned, *levels;
    threadgroup uint *codebook_words;
    float unit_values[16];

    uint load(uint, ulong pair) { return rows[pair]; }

#include "../portable/cache_rows.inc"
#include "../portable/rotation.inc"
#include "../portable/half_bits.inc"
#include "../portable/get_rows.inc"
};

kernel void eliza_kv_get_rows(device const ushort *rows [[buffer(0)]],
                              device const uint *ids [[buffer(1)]],
                              device uint *result [[buffer(2)]],
                              device const uint *codebooks [[buffer(3)]],
                              device const float *projection [[buffer(4)]],
                              constant GetRowsParams &params [[buffer(5)]],
                              threadgroup float *memory [[threadgroup(0)]],
                              uint thread_index [[thread_index_in_threadgroup]],
                              uint3 position [[threadgroup_position_in_grid]]) {
    GetRows get = {rows,   ids,          result,     codebooks, projection,
                   params, thread_index, position.x, memory,    memory + 1024,
                   (threadgroup uint *)(memory + 1040)};
    get.run_get_rows();
}

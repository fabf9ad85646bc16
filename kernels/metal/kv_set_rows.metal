// Encodes cached rows; kernels/portable/set_rows.inc says how.
#include "portable.h"

constant uint THREADS = 128;
#define HEAD_DIM p.head_dim

#include "../portable/cache_formats.inc"
#include "../portable/set_rows_params.inc"

struct SetRows {
    device const uint *given, *ids;
    device ushort *rows;
    device const uint *codebooks; // int8 [6][512], by bits a symbol
    device const float *projection;
    constant SetRowsParams &p;
    uint thread_index, group_index;
    threadgroup float *turned, *unit, *level, *lanes;
    threadgroup uint *codes, *states, *chosen, *choices;
    threadgroup int *samples, *survivors, *partial;
    int costs[4];
    uint span, tile_kind;
    float energy, rms;

    void store(ulong pair, uint bits) { rows[pair] = ushort(bits); }
    // Each operation rounds on its own.
    float add_exact(float a, float b) { return a + b; }
    float multiply_exact(float a, float b) { return a * b; }
    float divide_exact(float a, float b) { return a / b; }
    float root_exact(float a) { return sqrt(a); }

#include "../portable/cache_layout.inc"
#include "../portable/rotation.inc"
#include "../portable/set_rows.inc"
};

kernel void eliza_kv_set_rows(device const uint *given [[buffer(0)]],
                              device const uint *ids [[buffer(1)]],
                              device ushort *rows [[buffer(2)]],
                              device const uint *codebooks [[buffer(3)]],
                              device const float *projection [[buffer(4)]],
                              constant SetRowsParams &params [[buffer(5)]],
                              threadgroup float *memory [[threadgroup(0)]],
                              uint thread_index [[thread_index_in_threadgroup]],
                              uint3 position [[threadgroup_position_in_grid]]) {
    threadgroup uint *words = (threadgroup uint *)(memory + 4 * 128);
    threadgroup int *integers = (threadgroup int *)(words + 2 * 128 + 256 + 1024);
    SetRows set = {given,        ids,        rows,         codebooks,    projection,   params,
                   thread_index, position.x, memory,       memory + 128, memory + 256, memory + 384,
                   words,        words + 128, words + 256, words + 512,
                   integers,     integers + 128, integers + 384};
    set.run_set_rows();
}

#pragma once
// Products of q4_polar rows with one query in the original basis: H128 is its own transpose, so it is applied once
// to each tile of the query rather than to every row.
#include "polar.h"
#include "hadamard.h"

// Row `at` (a byte offset) times the query; the product is whole on the first thread of the row's team.
static float polar_row(device const ushort *rows, uint at, bool valid, device const float *query, uint tiles,
                       uint flags, threadgroup float *memory, uint thread_index) {
    threadgroup float *levels = memory;
    threadgroup float *tile = memory + 16;
    threadgroup float *parts = memory + 144;
    Polar::stage({}, levels, thread_index);
    float sum = 0;
    for (uint t = 0; t < tiles; t++) {
        threadgroup_barrier(mem_flags::mem_threadgroup); // the tile before has been read
        for (uint i = thread_index; i < 128; i += THREADS) tile[i] = query[t * 128 + i];
        hadamard_tile(tile, thread_index);
        if (valid) {
            for (uint unit = team_lane(thread_index); unit < 8; unit += team_size()) {
                float v[16];
                const float scale = Polar::decode({}, levels, flags, rows, at, t * 8 + unit, v);
                float dot = 0;
                for (uint i = 0; i < 16; i++) dot += v[i] * tile[unit * 16 + i];
                sum += scale * dot;
            }
        }
    }
    return team_sum(sum, parts, thread_index);
}

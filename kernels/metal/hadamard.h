#pragma once
// H128 in threadgroup memory, natural order, no factor. Called by the whole threadgroup, at any size.
static void hadamard_tile(threadgroup float *tile, uint thread_index) {
    for (uint step = 1; step < 128; step *= 2) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint pair = thread_index; pair < 64; pair += THREADS) {
            const uint low = (pair / step) * 2 * step + pair % step;
            const float a = tile[low], b = tile[low + step];
            tile[low] = a + b;
            tile[low + step] = a - b;
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
}

#pragma once
// H128 in threadgroup memory, natural order, no factor, of `count` tiles. Called by the whole threadgroup.
static void hadamard_slices(threadgroup float *tiles, uint count, uint thread_index) {
    for (uint step = 1; step < 128; step *= 2) {
        for (uint i = thread_index; i < count * 64; i += THREADS) {
            const uint pair = i % 64;
            threadgroup float *low = tiles + (i / 64) * 128 + (pair / step) * 2 * step + pair % step;
            const float a = low[0], b = low[step];
            low[0] = a + b;
            low[step] = a - b;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
}

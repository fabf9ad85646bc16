// The trellis codebooks in shared memory.
#pragma once
#include "warp.cuh"

// Each entry 32 times, so that lanes never meet in a bank: a word of a byte a rate, of 2, 3, 4 and ODD_RATE.
template <int ODD_RATE>
DEVICE void spread_codebooks(const uint32_t *codebooks, uint8_t *to, int warp, int warps, int lane) {
    for (int base = warp * 32; base < 512; base += warps * 32) {
        const uint8_t *books = (const uint8_t *)codebooks + base + lane;
        uint32_t word = books[512] | books[1024] << 8 | books[1536] << 16;
        if (ODD_RATE) word |= (uint32_t)books[(ODD_RATE - 1) * 512] << 24;
#pragma unroll 4
        for (int i = 0; i < 32; i++) *(uint32_t *)(to + (base + i) * 128 + lane * 4) = __shfl_sync(~0u, word, i);
    }
}

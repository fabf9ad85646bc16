// Compressed rows as pairs of bytes: every format's parts begin at even offsets.
#pragma once
#include <cuda_fp16.h>
#include <stdint.h>

// `at` is a byte offset.
static __device__ __forceinline__ uint32_t load16(const uint8_t *__restrict__ rows, uint32_t at) {
    return __ldg((const uint16_t *)(rows + at));
}
static __device__ __forceinline__ uint32_t load32(const uint8_t *__restrict__ rows, uint32_t at) {
    return load16(rows, at) | (load16(rows, at + 2) << 16);
}
static __device__ __forceinline__ float half_at(const uint8_t *__restrict__ rows, uint32_t at) {
    return __half2float(__ushort_as_half((unsigned short)load16(rows, at)));
}
static __device__ __forceinline__ float bfloat_at(const uint8_t *__restrict__ rows, uint32_t at) {
    return __uint_as_float(load16(rows, at) << 16);
}

// Threads that share a row, of which a block works on ROWS: all 32 for one row, and never fewer than 8.
template <uint32_t ROWS> struct Team {
    static constexpr uint32_t SIZE = ROWS <= 4 ? 32 / ROWS : 8;
    static constexpr uint32_t THREADS = SIZE * ROWS;
    static __device__ __forceinline__ uint32_t lane() { return threadIdx.x % SIZE; }
    static __device__ __forceinline__ uint32_t row() { return threadIdx.x / SIZE; }
};

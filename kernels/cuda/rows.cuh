// Compressed rows, and the threads that share them.
#pragma once
#include <cuda_fp16.h>
#include <stdint.h>

constexpr uint32_t SLICE = 128;      // values of a row that are worked on at a time
constexpr uint32_t SLICE_WORDS = 25; // at most 98 bytes; an odd pitch keeps rows in different banks

// Every format's parts begin at even offsets. `row` is a slice in shared memory.
static __device__ __forceinline__ uint32_t load16(const uint32_t *row, uint32_t at) {
    return ((const uint16_t *)row)[at / 2];
}
static __device__ __forceinline__ uint32_t load32(const uint32_t *row, uint32_t at) {
    return load16(row, at) | (load16(row, at + 2) << 16);
}
static __device__ __forceinline__ float half_at(const uint32_t *row, uint32_t at) {
    return __half2float(__ushort_as_half((unsigned short)load16(row, at)));
}
static __device__ __forceinline__ float bfloat_at(const uint32_t *row, uint32_t at) {
    return __uint_as_float(load16(row, at) << 16);
}

// A word of which only `bytes` may be read, from an even address.
static __device__ __forceinline__ uint32_t load_word(const uint8_t *__restrict__ from, uint32_t bytes) {
    if (bytes >= 4 && ((uintptr_t)from & 2) == 0) return __ldg((const uint32_t *)from);
    const uint32_t low = __ldg((const uint16_t *)from);
    return bytes < 4 ? low : low | ((uint32_t)__ldg((const uint16_t *)from + 1) << 16);
}

// A block works on ROWS rows: a thread a row from 32 rows on, else a team of threads a row.
template <uint32_t ROWS> struct Team {
    static constexpr uint32_t SIZE = ROWS < 32 ? 32 / ROWS : 1;
    static constexpr uint32_t THREADS = SIZE * ROWS;
    static __device__ __forceinline__ uint32_t lane() { return threadIdx.x / ROWS; }
    static __device__ __forceinline__ uint32_t row() { return threadIdx.x % ROWS; }
};

// Brings `bytes` bytes of each of `count` rows to shared memory, neighbouring threads neighbouring words.
template <uint32_t ROWS>
static __device__ __forceinline__ void stage_rows(const uint8_t *__restrict__ from, uint32_t row_stride, uint32_t bytes,
                                                  uint32_t count, uint32_t (*__restrict__ slices)[SLICE_WORDS]) {
    constexpr uint32_t THREADS = Team<ROWS>::THREADS;
    const uint32_t words = (bytes + 3) / 4;
    const uint32_t row_step = THREADS / words, word_step = THREADS % words;
    uint32_t row = threadIdx.x / words, word = threadIdx.x % words;
    while (row < count) {
        slices[row][word] = load_word(from + row * row_stride + word * 4, bytes - word * 4);
        row += row_step;
        word += word_step;
        if (word >= words) {
            word -= words;
            row++;
        }
    }
}

#pragma once
// Compressed rows, and the threads that share them.
#include <metal_stdlib>
using namespace metal;

constant uint THREADS [[function_constant(0)]];
constant uint ROWS [[function_constant(1)]]; // rows that one threadgroup works on

constant uint SLICE = 128;      // values of a row that are worked on at a time
constant uint SLICE_WORDS = 25; // at most 98 bytes; an odd pitch keeps rows in different banks

// Pairs of bytes: every format's parts begin at even offsets. `row` is a slice in threadgroup memory.
static inline uint load16(threadgroup const uint *row, uint at) { return (row[at / 4] >> ((at & 2) * 8)) & 0xffff; }
static inline uint load32(threadgroup const uint *row, uint at) {
    return load16(row, at) | (load16(row, at + 2) << 16);
}
static inline float half_at(threadgroup const uint *row, uint at) {
    return float(as_type<half>(ushort(load16(row, at))));
}
static inline float bfloat_at(threadgroup const uint *row, uint at) {
    return as_type<float>(load16(row, at) << 16);
}

// A thread a row from 32 rows on, else a team of threads a row.
static inline uint team_size() { return THREADS / ROWS; }
static inline uint team_lane(uint thread_index) { return thread_index / ROWS; }
static inline uint team_row(uint thread_index) { return thread_index % ROWS; }

// Brings `bytes` bytes of each of `count` rows to threadgroup memory, neighbouring threads neighbouring words.
static void stage_rows(device const ushort *rows, uint from, uint row_stride, uint bytes, uint count,
                       threadgroup uint *slices, uint thread_index) {
    const uint words = (bytes + 3) / 4;
    for (uint i = thread_index; i < count * words; i += THREADS) {
        const uint row = i / words, word = i % words;
        const uint pair = (from + row * row_stride) / 2 + word * 2;
        uint value = rows[pair];
        if (word * 4 + 2 < bytes) value |= uint(rows[pair + 1]) << 16;
        slices[row * SLICE_WORDS + word] = value;
    }
}

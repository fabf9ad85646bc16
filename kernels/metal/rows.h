#pragma once
// Compressed rows as pairs of bytes: every format's parts begin at even offsets.
#include <metal_stdlib>
using namespace metal;

constant uint THREADS [[function_constant(0)]];
constant uint ROWS [[function_constant(1)]]; // rows that one threadgroup works on

// `at` is a byte offset.
static inline uint load16(device const ushort *rows, uint at) { return rows[at >> 1]; }
static inline uint load32(device const ushort *rows, uint at) {
    return load16(rows, at) | (load16(rows, at + 2) << 16);
}
static inline float half_at(device const ushort *rows, uint at) {
    return float(as_type<half>(ushort(load16(rows, at))));
}
static inline float bfloat_at(device const ushort *rows, uint at) {
    return as_type<float>(load16(rows, at) << 16);
}

// Threads that share a row, a thread's place among them, and its row in the threadgroup.
static inline uint team_size() { return THREADS / ROWS; }
static inline uint team_lane(uint thread_index) { return thread_index % team_size(); }
static inline uint team_row(uint thread_index) { return thread_index / team_size(); }

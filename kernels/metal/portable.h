#pragma once
// What the files of kernels/portable are written in, for Metal. Their functions are members of a struct that has the
// buffers, the threadgroup's arrays and the thread's place.
#include <metal_stdlib>
using namespace metal;

#define FN
#define ROLLED
#define CONSTANT(TYPE, NAME, VALUE) constant TYPE NAME = VALUE;
#define TABLE(TYPE, NAME, COUNT) constant TYPE NAME[COUNT] =
#define INDEX ulong
#define BARRIER() threadgroup_barrier(mem_flags::mem_threadgroup)
#define THREAD thread_index
#define GROUP group_index
#define GROUPS group_count
#define as_float(BITS) as_type<float>(uint(BITS))
#define as_bits(VALUE) as_type<uint>(float(VALUE))

static inline float half_float(uint bits) { return float(as_type<half>(ushort(bits))); }
// Pairs of bytes in a stride of bytes.
static inline ulong pairs(uint low, uint high) { return (ulong(high) << 31) | low >> 1; }

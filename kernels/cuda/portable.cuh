// What the files of kernels/portable are written in, for CUDA. Their functions are members of a struct that has the
// buffers and the block's arrays.
#pragma once
#include <cuda_fp16.h>
#include <stdint.h>

using uint = unsigned int;
#define FN __device__ __forceinline__
#define ROLLED _Pragma("unroll 1")
#define CONSTANT(TYPE, NAME, VALUE) static constexpr TYPE NAME = VALUE;
#define TABLE(TYPE, NAME, COUNT) static __device__ const TYPE NAME[COUNT] =
#define INDEX uint64_t
#define BARRIER() __syncthreads()
#define THREAD threadIdx.x
#define GROUP blockIdx.x
#define GROUPS gridDim.x
#define as_float(BITS) __uint_as_float(BITS)
#define as_bits(VALUE) __float_as_uint(VALUE)

static __device__ __forceinline__ float half_float(uint bits) {
    return __half2float(__ushort_as_half((unsigned short)bits));
}
// Pairs of bytes in a stride of bytes.
static __device__ __forceinline__ uint64_t pairs(uint low, uint high) { return (uint64_t)high << 31 | low >> 1; }

// Each operation rounds on its own.
#ifdef __CUDACC__
static __device__ __forceinline__ float add_exact(float a, float b) { return __fadd_rn(a, b); }
static __device__ __forceinline__ float multiply_exact(float a, float b) { return __fmul_rn(a, b); }
static __device__ __forceinline__ float divide_exact(float a, float b) { return __fdiv_rn(a, b); }
static __device__ __forceinline__ float root_exact(float a) { return __fsqrt_rn(a); }
#else
static inline float add_exact(float a, float b) { return a + b; }
static inline float multiply_exact(float a, float b) { return a * b; }
static inline float divide_exact(float a, float b) { return a / b; }
static inline float root_exact(float a) { return sqrtf(a); }
#endif

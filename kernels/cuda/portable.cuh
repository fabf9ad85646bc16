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

static __device__ __forceinline__ float half_float(uint bits) {
    return __half2float(__ushort_as_half((unsigned short)bits));
}

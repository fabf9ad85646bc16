// The arithmetic of encoding as docs/formats.md specifies it: float32, every result rounded, sums over sixteen lanes.
// Blocks of 128 threads work on up to 128 values in shared memory.
#pragma once
#include <cuda_fp16.h>
#include <stdint.h>

#define DEVICE_INLINE static __device__ __forceinline__

#ifdef __CUDACC__
DEVICE_INLINE float add(float a, float b) { return __fadd_rn(a, b); }
DEVICE_INLINE float multiply(float a, float b) { return __fmul_rn(a, b); }
DEVICE_INLINE float divide(float a, float b) { return __fdiv_rn(a, b); }
DEVICE_INLINE float square_root(float a) { return __fsqrt_rn(a); }
#else
DEVICE_INLINE float add(float a, float b) { return a + b; }
DEVICE_INLINE float multiply(float a, float b) { return a * b; }
DEVICE_INLINE float divide(float a, float b) { return a / b; }
DEVICE_INLINE float square_root(float a) { return sqrtf(a); }
#endif

constexpr uint32_t HALF_NAN = 0x7e00;

// Bits of the nearest fp16, ties to even; above 65504 the largest finite one, NaN as 0x7e00.
DEVICE_INLINE uint32_t half_from_float(float value) {
    const uint32_t word = __float_as_uint(value), sign = word >> 16 & 0x8000, size = word & 0x7fffffff;
    if (size > 0x7f800000) return HALF_NAN;
    if (size >= 0x477ff000) return sign | 0x7bff;
    if (size >= 0x38800000) return sign | ((size - 0x38000000 + 0xfff + (size >> 13 & 1)) >> 13);
    // Below 2^-14: adding 2^-1 leaves the 24 bits that an fp16 step of 2^-24 has.
    return sign | (__float_as_uint(add(__uint_as_float(size), 0.5f)) - 0x3f000000);
}

// By the sixteen lanes that a warp's first half and its second half each are: their sums in the first lane of each.
DEVICE_INLINE float fold_lanes(float lane) {
#pragma unroll
    for (int half = 8; half >= 1; half /= 2) lane = add(lane, __shfl_down_sync(~0u, lane, half));
    return lane;
}

// sum of a[i] * b[i] of `count` values in shared memory, a multiple of sixteen, by a whole warp; every lane has it.
DEVICE_INLINE float dot_lanes(const float *a, const float *b, int count) {
    const int lane = threadIdx.x % 16;
    float sum = 0;
    for (int i = lane; i < count; i += 16) sum = add(sum, multiply(a[i], b[i]));
    return __shfl_sync(~0u, fold_lanes(sum), 0);
}
// The same of 32 values, one a lane.
DEVICE_INLINE float dot_warp(float a, float b) {
    const float product = multiply(a, b);
    const float other = __shfl_down_sync(~0u, product, 16);
    return __shfl_sync(~0u, fold_lanes(add(add(0.0f, product), other)), 0);
}

enum class TileKind { values, zero, overflow };
struct TileNorm {
    TileKind kind;
    float energy, rms, inverse;
};
DEVICE_INLINE TileNorm tile_norm(float energy, float count) {
    if (!(energy < INFINITY)) return {TileKind::overflow, energy, 0, 0};
    if (energy < 8.673617379884035e-19f) return {TileKind::zero, 0, 0, 0}; // 2^-60
    const float rms = square_root(divide(energy, count));
    return {TileKind::values, energy, rms, divide(1.0f, rms)};
}

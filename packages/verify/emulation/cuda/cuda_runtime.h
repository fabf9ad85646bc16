// The part of CUDA C++ that the kernels use, on a CPU. A warp is a subgroup.
#pragma once
#include <math.h>
#include <tuple>
#include <utility>
#include "../threads.h"

#define __global__
#define __device__
#define __host__
#define __grid_constant__
#define __constant__ static const
#define __shared__ EMULATION_THREADGROUP
#define __restrict__ __restrict
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))

struct dim3 {
    unsigned x, y, z;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
struct alignas(8) uint2 {
    unsigned x, y;
};

#define threadIdx (dim3{emulation::current->index, 0, 0})
#define blockDim (dim3{emulation::thread_count, 1, 1})
#define blockIdx (dim3{emulation::group_position[0], emulation::group_position[1], emulation::group_position[2]})
#define gridDim (dim3{emulation::group_count[0], emulation::group_count[1], emulation::group_count[2]})

inline void __syncthreads() { emulation::wait_for_group(); }
inline void __syncwarp(unsigned = ~0u) { emulation::wait_for_subgroup(); }

template <class T> T __shfl_xor_sync(unsigned, T value, int mask) {
    return emulation::exchange(value,
                               [&] { return emulation::published<T>(emulation::current->lane ^ unsigned(mask)); });
}
template <class T> T __shfl_down_sync(unsigned, T value, unsigned delta) {
    return emulation::exchange(value, [&] {
        const uint32_t from = emulation::current->lane + delta;
        return from < emulation::lanes() ? emulation::published<T>(from) : value;
    });
}
template <class T> T __shfl_sync(unsigned, T value, int lane) {
    return emulation::exchange(value, [&] { return emulation::published<T>(unsigned(lane) % emulation::lanes()); });
}
inline unsigned __reduce_max_sync(unsigned, unsigned value) {
    return emulation::reduce(value, [](unsigned a, unsigned b) { return std::max(a, b); });
}
inline int __reduce_max_sync(unsigned, int value) {
    return emulation::reduce(value, [](int a, int b) { return std::max(a, b); });
}
inline unsigned __reduce_min_sync(unsigned, unsigned value) {
    return emulation::reduce(value, [](unsigned a, unsigned b) { return std::min(a, b); });
}
inline int __any_sync(unsigned, int value) {
    return emulation::reduce(value != 0, [](bool a, bool b) { return a || b; });
}
// Blocks run one after another, and the threads of a block in turns.
inline unsigned atomicAdd(unsigned *address, unsigned value) {
    const unsigned before = *address;
    *address += value;
    return before;
}
inline void __threadfence() {}
template <class T> T __ldcg(const T *address) { return *address; }
template <class T> void __stcg(T *address, T value) { *address = value; }
template <class T> T __ldg(const T *address) { return *address; }
inline float __uint_as_float(unsigned bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
inline unsigned __float_as_uint(float value) {
    unsigned bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
using std::max;
using std::min;
inline int __popc(unsigned bits) { return __builtin_popcount(bits); }
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return unsigned(((uint64_t(high) << 32) | low) >> (shift & 31));
}

namespace emulation {
// Calls a kernel with its arguments taken from pointers, as cuLaunchKernel does.
template <class... P, size_t... I> void call_with(void (*function)(P...), void **arguments, std::index_sequence<I...>) {
    function(*(std::remove_cvref_t<P> *)arguments[I]...);
}
template <class... P> void call(void (*function)(P...), void **arguments) {
    call_with(function, arguments, std::index_sequence_for<P...>{});
}
} // namespace emulation

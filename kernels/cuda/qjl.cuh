// qjl1_256: 34 bytes for 128 values, 256 signs of their projection and a bf16 norm. The query is its 256-value sketch.
#pragma once
#include "rows.cuh"

struct Qjl {
    static constexpr uint32_t QUERY_PER_VALUE = 2;
    static constexpr bool TURNS_QUERY = false;
    struct Source {};
    struct Shared {};

    static __device__ __forceinline__ void stage(const Source &, Shared &) {}

    static __device__ __forceinline__ uint32_t offset(const Source &, uint32_t value) { return value / 128 * 34; }

    static __device__ __forceinline__ uint32_t place(uint32_t unit, uint32_t half) { return unit * 16 + half * 8; }

    static __device__ __forceinline__ float decode(const Source &, const Shared &, uint32_t, const uint32_t *row,
                                                   uint32_t, uint32_t, uint32_t unit, float *v) {
        const uint32_t signs = ~load16(row, unit * 2);
#pragma unroll
        for (uint32_t i = 0; i < 16; i++) v[i] = __uint_as_float(0x3f800000u | ((signs << (31 - i)) & 0x80000000u));
        return bfloat_at(row, 32) * 0.0048957583f; // sqrt(pi / 2) / 256
    }
};

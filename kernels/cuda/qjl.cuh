// qjl1_256: 34 bytes for 128 values, 256 signs of their projection and a bf16 norm. The query is its 256-value sketch.
#pragma once
#include "query.cuh"

struct Qjl {
    static constexpr uint32_t QUERY_PER_VALUE = 2;
    struct Source {};
    struct Shared {};

    static __device__ __forceinline__ void stage(const Source &, Shared &) {}

    static __device__ __forceinline__ uint32_t place(uint32_t unit, uint32_t half) { return unit * 16 + half * 8; }

    static __device__ __forceinline__ float decode(const Source &, const Shared &, uint32_t, const uint8_t *__restrict__ rows,
                                                   uint32_t at, uint32_t unit, float *v) {
        const uint32_t block = at + (unit / 16) * 34;
        const uint32_t signs = load16(rows, block + (unit % 16) * 2);
#pragma unroll
        for (uint32_t i = 0; i < 16; i++) v[i] = (signs >> i) & 1 ? 1.0f : -1.0f;
        return bfloat_at(rows, block + 32) * 0.0048957583f; // sqrt(pi / 2) / 256
    }
};

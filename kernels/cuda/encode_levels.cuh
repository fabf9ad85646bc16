// Types of levels: 32 values with a scale and codes of 3 or 4 bits. A warp a block of 32.
#pragma once
#include "encode_rotation.cuh"

static __device__ const float TURBO4_LEVELS[16] = {
#include "../tables/turbo4-centroids.inc"
};
static __device__ const float TURBO4_BOUNDS[15] = {
#include "../tables/turbo4-thresholds.inc"
};
static __device__ const float TURBO4_FACTORS[12] = {
#include "../tables/turbo4-factors.inc"
};
static __device__ const float TBQ3_LEVELS[8] = {
#include "../tables/tbq3-centroids.inc"
};
static __device__ const float TBQ3_BOUNDS[7] = {
#include "../tables/tbq3-thresholds.inc"
};
static __device__ const float TBQ3_FACTORS[12] = {
#include "../tables/tbq3-factors.inc"
};
static __device__ const float TURBO3_LEVELS[8] = {
#include "../tables/turbo3-centroids.inc"
};
static __device__ const float TURBO3_BOUNDS[7] = {
#include "../tables/turbo3-thresholds.inc"
};
static __device__ const float TURBO3_FACTORS[12] = {
#include "../tables/turbo3-factors.inc"
};

// How many bounds a value reaches.
template <int LEVELS> DEVICE_INLINE int level_of(const float *bounds, float x) {
    int code = 0;
#pragma unroll
    for (int step = LEVELS / 2; step > 0; step /= 2)
        if (x >= bounds[code + step - 1]) code += step;
    return code;
}

// The code of the lane's value and the scale's factor: of twelve scales the one whose fit explains most.
template <int LEVELS>
DEVICE_INLINE int best_levels(float unit, const float *levels, const float *bounds, const float *factors, float &fit) {
    float best = -1;
    int code = 0;
    fit = 0;
    for (int f = 0; f < 12; f++) {
        const int trial = level_of<LEVELS>(bounds, multiply(unit, factors[f]));
        const float c = levels[trial], num = dot_warp(unit, c), den = dot_warp(c, c);
        const float explained = divide(multiply(num, num), den);
        if (explained > best) best = explained, fit = divide(num, den), code = trial;
    }
    return code;
}

struct LevelTables {
    const float *levels, *bounds, *factors;
};

struct EncodeTurbo4 {
    static constexpr int WIDTH = 32, LEVELS = 16, BYTES = 18;
    static __device__ __forceinline__ LevelTables tables() { return {TURBO4_LEVELS, TURBO4_BOUNDS, TURBO4_FACTORS}; }
    static __device__ __forceinline__ void write(uint8_t *to, int code, int lane) {
        const int high = __shfl_down_sync(~0u, code, 16);
        if (lane < 16) to[2 + lane] = (uint8_t)(code | high << 4);
    }
};
struct EncodeTbq3 {
    static constexpr int WIDTH = 32, LEVELS = 8, BYTES = 14;
    static __device__ __forceinline__ LevelTables tables() { return {TBQ3_LEVELS, TBQ3_BOUNDS, TBQ3_FACTORS}; }
    static __device__ __forceinline__ void write(uint8_t *to, int code, int lane) {
        uint32_t eight = 0; // codes of eight lanes, three bytes
        for (int i = 0; i < 8; i++) eight |= (uint32_t)__shfl_sync(~0u, code, lane / 8 * 8 + i) << (3 * i);
        if (lane % 8 < 3) to[2 + lane / 8 * 3 + lane % 8] = (uint8_t)(eight >> (8 * (lane % 8)));
    }
};
template <int D> struct EncodeTurbo3 {
    static constexpr int WIDTH = D % 128 == 0 ? 128 : 64, LEVELS = 8, BYTES = 14;
    static __device__ __forceinline__ LevelTables tables() { return {TURBO3_LEVELS, TURBO3_BOUNDS, TURBO3_FACTORS}; }
    static __device__ __forceinline__ void write(uint8_t *to, int code, int lane) {
        uint32_t low = 0, high = 0;
        for (int i = 0; i < 8; i++) {
            const uint32_t c = __shfl_sync(~0u, code, lane / 8 * 8 + i);
            low |= (c & 3) << (2 * i);
            high |= (c >> 2) << i;
        }
        if (lane % 8 < 2) to[2 + lane / 8 * 2 + lane % 8] = (uint8_t)(low >> (8 * (lane % 8)));
        if (lane % 8 == 0) to[10 + lane / 8] = (uint8_t)high;
    }
};

// 128 values of a row in `z`, of which `count` are there, to the blocks that begin at `to`.
template <class E> DEVICE_INLINE void encode_levels(float *z, int count, uint8_t *to) {
    rotate_run(z, E::WIDTH);
    const int lane = threadIdx.x % 32, block = threadIdx.x / 32;
    const float x = z[threadIdx.x];
    const TileNorm norm = tile_norm(dot_warp(x, x), 32.0f);
    const LevelTables t = E::tables();
    float fit;
    int code = best_levels<E::LEVELS>(norm.kind == TileKind::values ? multiply(x, norm.inverse) : 0.0f, t.levels,
                                      t.bounds, t.factors, fit);
    if (norm.kind != TileKind::values) code = 0;
    if (block * 32 >= count) return;
    uint8_t *out = to + block * E::BYTES;
    const uint32_t scale = norm.kind == TileKind::values ? half_from_float(multiply(norm.rms, fit))
                           : norm.kind == TileKind::zero ? 0
                                                         : HALF_NAN;
    E::write(out, code, lane);
    if (lane == 0) *(uint16_t *)out = (uint16_t)scale;
}

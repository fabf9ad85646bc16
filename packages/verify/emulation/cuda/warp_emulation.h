// kernels/cuda/warp.cuh on a CPU: copies are there at once, and a wait is a meeting of the warp.
#pragma once
#include "cuda_runtime.h"

#define DYNAMIC_SHARED(NAME) static __attribute__((section("threadgroup_memory"), aligned(128))) uint8_t NAME[232448]

inline uint32_t permute(uint32_t a, uint32_t b, uint32_t selector) {
    const uint64_t bytes = (uint64_t)b << 32 | a;
    uint32_t result = 0;
    for (int i = 0; i < 4; i++) {
        const uint32_t s = selector >> (4 * i) & 15, byte = (uint32_t)(bytes >> (8 * (s & 7))) & 255;
        result |= (s & 8 ? (byte & 128 ? 255u : 0u) : byte) << (8 * i);
    }
    return result;
}
inline float exp2_fast(float x) { return exp2f(x); }
inline uint32_t half_word(float x) {
    const _Float16 half = (_Float16)x;
    uint16_t bits;
    memcpy(&bits, &half, 2);
    return bits;
}
inline uint32_t pack_halves(float low, float high) { return half_word(low) | half_word(high) << 16; }
inline float divide_fast(float a, float b) { return a / b; }
inline uint32_t opaque(uint32_t x) { return x; }
inline void keep_loads_here() {}

namespace emulation {
struct Operand {
    uint32_t word[4];
};
inline float half_at(uint32_t word, int i) {
    const uint16_t bits = (uint16_t)(word >> (16 * i));
    _Float16 half;
    memcpy(&half, &bits, 2);
    return (float)half;
}
// Calls term(row, column, a, b) for each pair of operand words that meet in the lane's four results.
template <class T, class Term> void multiply(T *c, const uint32_t *a, uint32_t b0, uint32_t b1, Term term) {
    const uint32_t lane = current->lane, g = lane / 4, t4 = lane % 4;
    Operand left[2][4], right[2][4]; // [row or column of the lane's two][t4]
    exchange(Operand{{a[0], a[1], a[2], a[3]}}, [&] {
        for (uint32_t i = 0; i < 4; i++) left[0][i] = published<Operand>(4 * g + i);
        return 0;
    });
    exchange(Operand{{b0, b1, 0, 0}}, [&] {
        for (uint32_t e = 0; e < 2; e++)
            for (uint32_t i = 0; i < 4; i++) right[e][i] = published<Operand>(4 * (2 * t4 + e) + i);
        return 0;
    });
    for (uint32_t e = 0; e < 2; e++)
        for (uint32_t i = 0; i < 4; i++) {
            term(c[e], left[0][i].word[0], right[e][i].word[0]);
            term(c[e], left[0][i].word[2], right[e][i].word[1]);
            term(c[2 + e], left[0][i].word[1], right[e][i].word[0]);
            term(c[2 + e], left[0][i].word[3], right[e][i].word[1]);
        }
}
} // namespace emulation

template <class Each> uint32_t each_half(Each each) {
    return half_word(each(0)) | half_word(each(1)) << 16;
}
inline uint32_t halves_subtract(uint32_t a, uint32_t b) {
    return each_half([&](int i) { return emulation::half_at(a, i) - emulation::half_at(b, i); });
}
inline uint32_t halves_multiply(uint32_t a, uint32_t b) {
    return each_half([&](int i) { return emulation::half_at(a, i) * emulation::half_at(b, i); });
}
inline uint32_t halves_fma(uint32_t a, uint32_t b, uint32_t c) {
    return each_half([&](int i) {
        return emulation::half_at(a, i) * emulation::half_at(b, i) + emulation::half_at(c, i);
    });
}

inline void mma_int8(int *d, const uint32_t *a, uint32_t b0, uint32_t b1, const int *c) {
    for (int i = 0; i < 4; i++) d[i] = c[i];
    emulation::multiply(d, a, b0, b1, [](int &sum, uint32_t x, uint32_t y) {
        for (int i = 0; i < 4; i++) sum += (int8_t)(x >> (8 * i)) * (int8_t)(y >> (8 * i));
    });
}
inline void mma_half(float *c, const uint32_t *a, uint32_t b0, uint32_t b1) {
    emulation::multiply(c, a, b0, b1, [](float &sum, uint32_t x, uint32_t y) {
        for (int i = 0; i < 2; i++) sum += emulation::half_at(x, i) * emulation::half_at(y, i);
    });
}

inline void barrier_init(uint64_t *, uint32_t) {}
inline void barrier_inits_done() {}
inline void barrier_wait(uint64_t *, uint32_t) { emulation::wait_for_subgroup(); }
inline void barrier_arrive_copied(uint64_t *) {}
inline void barrier_expect(uint64_t *, uint32_t) {}
inline void copy_bulk(uint8_t *to, const uint8_t *from, uint32_t bytes, uint64_t *) {
    if (((uintptr_t)to | (uintptr_t)from | bytes) & 15) __builtin_trap();
    memcpy(to, from, bytes);
}
inline void copy_unit(uint8_t *to, const uint8_t *from, uint32_t there) {
    if (((uintptr_t)to | (uintptr_t)from) & 15) __builtin_trap();
    memset(to, 0, 16);
    memcpy(to, from, there);
}
inline void copy_unit(uint8_t *to, const uint8_t *from) { copy_unit(to, from, 16); }
inline void bulk_fence() {}

// The vector operations that the formats are written in, in sixteen lanes on every instruction set.
//
// A kernels_<isa>.c includes one lanes_<isa>.h, which defines:
//   vf, vi, vb            16 float32 lanes, 16 int32 lanes, 16 bytes
//   vf_zero vf_set1 vf_load vf_store vf_add vf_sub vf_mul
//   vf_fma(a, b, c)       a·b + c, fused or not: only where no byte depends on it
//   vf_fold(a)            sum of the lanes in the specified order: 8, 4, 2, 1 apart
//   vf_negate(a, mask)    lanes whose bit in the constant or variable 16-bit mask is set change sign
//   vf_hadamard16(a)      the first four stages of the Hadamard transform
//   vf_positive(a)        16-bit mask of the lanes above zero
//   vf_load_half(bytes)   16 fp16 values
//   vf_lookup8 / vf_lookup16 / vf_lookup512(table, a)
//   vf_round(a)           to integers, ties to even
//   vsearch, vsearch8 / vsearch16(thresholds), vi_codes8 / vi_codes16(search, a): how many thresholds are <= a
//   vi_and vi_or vi_shl vi_shr (constants), vi_narrow(out, a): the low bytes; vi_narrow16: the low halves
//   vi_mask_bit(a, mask, bit): a with that bit set in the lanes of the mask
//   vb_load16, vb_load_exact(bytes, count): count is an even constant of at most 16, nothing past it is read
//   vb_set_word(a, i, word): 16-bit element i replaced, i a constant
//   vi_bytes(a)           each byte as a lane
//   vi_windows(a, step)   lane i holds the bits from step·i on, at least nine of them, and more above; step 1 to 6
//   half_to_float(word)   fp16 to float32
// and, unless it is the scalar one, the operations of viterbi.h.
#ifndef ELIZA_KV_LANES_H
#define ELIZA_KV_LANES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "half.h"
#include "tables.h"

// The callers pass constants: widths, rates and table readers must reach the loops as such.
#define KV_INLINE static inline __attribute__((always_inline))

// The bodies of the formats. Under a sanitizer they stay functions: inlined and checked they take minutes to compile.
#if defined(__SANITIZE_ADDRESS__)
#define KV_BODY static inline
#else
#define KV_BODY KV_INLINE
#endif

// Whole loops over registers, so that the registers stay registers.
#if defined(__SANITIZE_ADDRESS__) || defined(KV_SCALAR)
#define KV_UNROLL
#else
#define KV_UNROLL _Pragma("GCC unroll 64")
#endif

enum { LANES = 16 };

KV_INLINE uint16_t read16(const uint8_t *bytes) {
    uint16_t word;
    memcpy(&word, bytes, sizeof(word));
    return word;
}

KV_INLINE uint32_t read32(const uint8_t *bytes) {
    uint32_t word;
    memcpy(&word, bytes, sizeof(word));
    return word;
}

KV_INLINE uint64_t read64(const uint8_t *bytes) {
    uint64_t word;
    memcpy(&word, bytes, sizeof(word));
    return word;
}

// The first count bytes, 0 to 8 and even, in the low end of a word.
KV_INLINE uint64_t read_up_to64(const uint8_t *bytes, int count) {
    switch (count) {
    case 2:
        return read16(bytes);
    case 4:
        return read32(bytes);
    case 6:
        return read32(bytes) | (uint64_t)read16(bytes + 4) << 32;
    case 8:
        return read64(bytes);
    default:
        return 0;
    }
}

#endif

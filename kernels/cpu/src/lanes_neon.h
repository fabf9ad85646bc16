// Sixteen lanes as four NEON registers (AArch64's base set).
#ifndef ELIZA_KV_LANES_NEON_H
#define ELIZA_KV_LANES_NEON_H

#include <arm_neon.h>

#include "lanes.h"

typedef float32x4x4_t vf;
typedef int32x4x4_t vi;
typedef uint8x16_t vb;

#define EACH_QUARTER for (int q = 0; q < 4; ++q)

KV_INLINE vf vf_set1(float value) {
    const float32x4_t all = vdupq_n_f32(value);
    return (vf){{all, all, all, all}};
}

KV_INLINE vf vf_zero(void) { return vf_set1(0.0f); }

KV_INLINE vf vf_load(const float *x) {
    vf out;
    EACH_QUARTER out.val[q] = vld1q_f32(x + 4 * q);
    return out;
}

KV_INLINE void vf_store(float *x, vf a) { EACH_QUARTER vst1q_f32(x + 4 * q, a.val[q]); }

KV_INLINE vf vf_add(vf a, vf b) {
    EACH_QUARTER a.val[q] = vaddq_f32(a.val[q], b.val[q]);
    return a;
}

KV_INLINE vf vf_sub(vf a, vf b) {
    EACH_QUARTER a.val[q] = vsubq_f32(a.val[q], b.val[q]);
    return a;
}

KV_INLINE vf vf_mul(vf a, vf b) {
    EACH_QUARTER a.val[q] = vmulq_f32(a.val[q], b.val[q]);
    return a;
}

KV_INLINE vf vf_fma(vf a, vf b, vf c) {
    EACH_QUARTER c.val[q] = vfmaq_f32(c.val[q], a.val[q], b.val[q]);
    return c;
}

KV_INLINE float vf_fold(vf a) {
    const float32x4_t low = vaddq_f32(a.val[0], a.val[2]);
    const float32x4_t high = vaddq_f32(a.val[1], a.val[3]);
    const float32x4_t four = vaddq_f32(low, high);
    const float32x2_t two = vadd_f32(vget_low_f32(four), vget_high_f32(four));
    return vget_lane_f32(two, 0) + vget_lane_f32(two, 1);
}

// The bits of the mask for lanes 4q to 4q + 3, each at the bottom of its lane.
KV_INLINE uint32x4_t mask_bits(uint32_t mask, int q) {
    static const int32_t RIGHT[4] = {0, -1, -2, -3};
    return vandq_u32(vshlq_u32(vdupq_n_u32(mask >> (4 * q)), vld1q_s32(RIGHT)), vdupq_n_u32(1));
}

KV_INLINE vf vf_negate(vf a, uint32_t mask) {
    EACH_QUARTER {
        const uint32x4_t flip = vshlq_n_u32(mask_bits(mask, q), 31);
        a.val[q] = vreinterpretq_f32_u32(veorq_u32(vreinterpretq_u32_f32(a.val[q]), flip));
    }
    return a;
}

// The stages at distance 1 and 2 of two registers, unzipped so that pairs meet lane by lane.
KV_INLINE void hadamard4x2(float32x4_t *x, float32x4_t *y) {
    const float32x4_t even = vuzp1q_f32(*x, *y);
    const float32x4_t odd = vuzp2q_f32(*x, *y);
    const float32x4_t sum = vaddq_f32(even, odd);        // x01 x23 y01 y23
    const float32x4_t difference = vsubq_f32(even, odd); // the same of differences
    const float32x4_t first = vuzp1q_f32(sum, difference);
    const float32x4_t second = vuzp2q_f32(sum, difference);
    const float32x4_t a = vaddq_f32(first, second); // x0 y0 x1 y1
    const float32x4_t b = vsubq_f32(first, second); // x2 y2 x3 y3
    *x = vcombine_f32(vget_low_f32(vuzp1q_f32(a, a)), vget_low_f32(vuzp1q_f32(b, b)));
    *y = vcombine_f32(vget_low_f32(vuzp2q_f32(a, a)), vget_low_f32(vuzp2q_f32(b, b)));
}

KV_INLINE vf vf_hadamard16(vf a) {
    hadamard4x2(&a.val[0], &a.val[1]);
    hadamard4x2(&a.val[2], &a.val[3]);
    const vf b = {{vaddq_f32(a.val[0], a.val[1]), vsubq_f32(a.val[0], a.val[1]), vaddq_f32(a.val[2], a.val[3]),
                   vsubq_f32(a.val[2], a.val[3])}};
    return (vf){{vaddq_f32(b.val[0], b.val[2]), vaddq_f32(b.val[1], b.val[3]), vsubq_f32(b.val[0], b.val[2]),
                 vsubq_f32(b.val[1], b.val[3])}};
}

KV_INLINE uint32_t vf_positive(vf a) {
    static const uint32_t WEIGHTS[4] = {1, 2, 4, 8};
    uint32_t mask = 0;
    EACH_QUARTER mask |= vaddvq_u32(vandq_u32(vcgtzq_f32(a.val[q]), vld1q_u32(WEIGHTS))) << (4 * q);
    return mask;
}

KV_INLINE float half_to_float(uint16_t half) {
    return vgetq_lane_f32(vcvt_f32_f16(vreinterpret_f16_u16(vdup_n_u16(half))), 0);
}

KV_INLINE vf vf_load_half(const uint8_t *bytes) {
    vf out;
    EACH_QUARTER out.val[q] = vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8(bytes + 8 * q)));
    return out;
}

// Four bytes a value: byte 4i + b of the table for each byte b of lane i's index.
KV_INLINE uint8x16_t bytes_of_index(int32x4_t index) {
    const uint32x4_t times = vmulq_n_u32(vreinterpretq_u32_s32(index), 0x04040404u);
    return vreinterpretq_u8_u32(vaddq_u32(times, vdupq_n_u32(0x03020100u)));
}

KV_INLINE vf vf_lookup8(const float *table, vi index) {
    const uint8x16x2_t values = {{vld1q_u8((const uint8_t *)table), vld1q_u8((const uint8_t *)(table + 4))}};
    vf out;
    EACH_QUARTER out.val[q] = vreinterpretq_f32_u8(vqtbl2q_u8(values, bytes_of_index(index.val[q])));
    return out;
}

KV_INLINE vf vf_lookup16(const float *table, vi index) {
    const uint8x16x4_t values = {{vld1q_u8((const uint8_t *)table), vld1q_u8((const uint8_t *)(table + 4)),
                                  vld1q_u8((const uint8_t *)(table + 8)), vld1q_u8((const uint8_t *)(table + 12))}};
    vf out;
    EACH_QUARTER out.val[q] = vreinterpretq_f32_u8(vqtbl4q_u8(values, bytes_of_index(index.val[q])));
    return out;
}

KV_INLINE vf vf_lookup512(const float *table, vi index) {
    vf out;
    EACH_QUARTER {
        float32x4_t values = vdupq_n_f32(table[vgetq_lane_s32(index.val[q], 0)]);
        values = vld1q_lane_f32(table + vgetq_lane_s32(index.val[q], 1), values, 1);
        values = vld1q_lane_f32(table + vgetq_lane_s32(index.val[q], 2), values, 2);
        out.val[q] = vld1q_lane_f32(table + vgetq_lane_s32(index.val[q], 3), values, 3);
    }
    return out;
}

KV_INLINE vi vf_round(vf a) {
    vi out;
    EACH_QUARTER out.val[q] = vcvtnq_s32_f32(a.val[q]);
    return out;
}

typedef const float *vsearch;

KV_INLINE vsearch vsearch8(const float *thresholds) { return thresholds; }
KV_INLINE vsearch vsearch16(const float *thresholds) { return thresholds; }

// Each comparison that holds is −1.
KV_INLINE vi count_thresholds(const float *thresholds, vf a, int count) {
    vi out;
    EACH_QUARTER {
        int32x4_t code = vdupq_n_s32(0);
        for (int t = 0; t < count; ++t) {
            code = vsubq_s32(code, vreinterpretq_s32_u32(vcgeq_f32(a.val[q], vdupq_n_f32(thresholds[t]))));
        }
        out.val[q] = code;
    }
    return out;
}

KV_INLINE vi vi_codes8(vsearch search, vf a) { return count_thresholds(search, a, 7); }
KV_INLINE vi vi_codes16(vsearch search, vf a) { return count_thresholds(search, a, 15); }

KV_INLINE vi vi_and(vi a, int32_t mask) {
    EACH_QUARTER a.val[q] = vandq_s32(a.val[q], vdupq_n_s32(mask));
    return a;
}

KV_INLINE vi vi_or(vi a, vi b) {
    EACH_QUARTER a.val[q] = vorrq_s32(a.val[q], b.val[q]);
    return a;
}

KV_INLINE vi vi_shl(vi a, int count) {
    EACH_QUARTER a.val[q] = vshlq_s32(a.val[q], vdupq_n_s32(count));
    return a;
}

KV_INLINE vi vi_shr(vi a, int count) {
    EACH_QUARTER a.val[q] = vreinterpretq_s32_u32(vshlq_u32(vreinterpretq_u32_s32(a.val[q]), vdupq_n_s32(-count)));
    return a;
}

KV_INLINE vi vi_mask_bit(vi a, uint32_t mask, int bit) {
    EACH_QUARTER {
        const uint32x4_t set = vshlq_u32(mask_bits(mask, q), vdupq_n_s32(bit));
        a.val[q] = vorrq_s32(a.val[q], vreinterpretq_s32_u32(set));
    }
    return a;
}

KV_INLINE int16x8_t low_halves(int32x4_t a, int32x4_t b) { return vcombine_s16(vmovn_s32(a), vmovn_s32(b)); }

KV_INLINE void vi_narrow16(int16_t *out, vi a) {
    vst1q_s16(out, low_halves(a.val[0], a.val[1]));
    vst1q_s16(out + 8, low_halves(a.val[2], a.val[3]));
}

KV_INLINE void vi_narrow(uint8_t *out, vi a) {
    const int8x8_t low = vmovn_s16(low_halves(a.val[0], a.val[1]));
    vst1q_u8(out, vreinterpretq_u8_s8(vcombine_s8(low, vmovn_s16(low_halves(a.val[2], a.val[3])))));
}

KV_INLINE vb vb_load16(const uint8_t *bytes) { return vld1q_u8(bytes); }

KV_INLINE vb vb_load_exact(const uint8_t *bytes, int count) {
    if (count == 16) return vb_load16(bytes);
    const uint64_t low = count < 8 ? read_up_to64(bytes, count) : read64(bytes);
    const uint64_t high = count > 8 ? read_up_to64(bytes + 8, count - 8) : 0;
    return vreinterpretq_u8_u64(vcombine_u64(vcreate_u64(low), vcreate_u64(high)));
}

KV_INLINE vb vb_set_word(vb a, int i, uint16_t word) {
    const uint16x8_t words = vreinterpretq_u16_u8(a);
    switch (i) {
    case 1:
        return vreinterpretq_u8_u16(vsetq_lane_u16(word, words, 1));
    case 2:
        return vreinterpretq_u8_u16(vsetq_lane_u16(word, words, 2));
    case 3:
        return vreinterpretq_u8_u16(vsetq_lane_u16(word, words, 3));
    case 4:
        return vreinterpretq_u8_u16(vsetq_lane_u16(word, words, 4));
    case 5:
        return vreinterpretq_u8_u16(vsetq_lane_u16(word, words, 5));
    default:
        return vreinterpretq_u8_u16(vsetq_lane_u16(word, words, 6));
    }
}

KV_INLINE vi vi_bytes(vb a) {
    const uint16x8_t low = vmovl_u8(vget_low_u8(a));
    const uint16x8_t high = vmovl_u8(vget_high_u8(a));
    return (vi){
        {vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(low))), vreinterpretq_s32_u32(vmovl_u16(vget_high_u16(low))),
         vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(high))), vreinterpretq_s32_u32(vmovl_u16(vget_high_u16(high)))}};
}

KV_INLINE vi vi_windows(vb a, int step) {
    static const uint32_t LANE[4] = {0, 1, 2, 3};
    vi out;
    EACH_QUARTER {
        const uint32x4_t bit = vmulq_n_u32(vaddq_u32(vld1q_u32(LANE), vdupq_n_u32((uint32_t)(4 * q))), (uint32_t)step);
        const uint32x4_t byte = vshrq_n_u32(bit, 3);
        const uint32x4_t pair = vorrq_u32(byte, vshlq_n_u32(vaddq_u32(byte, vdupq_n_u32(1)), 8));
        const uint32x4_t words =
            vreinterpretq_u32_u8(vqtbl1q_u8(a, vreinterpretq_u8_u32(vorrq_u32(pair, vdupq_n_u32(0xffff0000u)))));
        const int32x4_t right = vnegq_s32(vreinterpretq_s32_u32(vandq_u32(bit, vdupq_n_u32(7))));
        out.val[q] = vreinterpretq_s32_u32(vshlq_u32(words, right));
    }
    return out;
}

// ---- for viterbi_vector.h

typedef int32x4_t iv;
typedef int16x4_t iv_sample;

enum { IV_LANES = 4, IV_BLOCK = 8, IV_TILES = 1 };

// value · 2^k and 2 · value² · 2^k: a widening multiply-add makes a branch metric.
typedef struct branch_entries {
    _Alignas(64) int16_t value[TRELLIS_STATES];
    int32_t bias[TRELLIS_STATES];
} branch_entries;

KV_INLINE void set_branch(branch_entries *entries, int i, int value, int k) {
    entries->value[i] = (int16_t)(value * (1 << k));
    entries->bias[i] = 2 * value * value * (1 << k);
}

KV_INLINE iv iv_load(const int32_t *x) { return vld1q_s32(x); }
KV_INLINE void iv_store(int32_t *x, iv a) { vst1q_s32(x, a); }
KV_INLINE iv iv_set1(int32_t value) { return vdupq_n_s32(value); }
KV_INLINE iv iv_add(iv a, iv b) { return vaddq_s32(a, b); }
KV_INLINE iv iv_and(iv a, iv b) { return vandq_s32(a, b); }
KV_INLINE iv iv_min(iv a, iv b) { return vminq_s32(a, b); }

KV_INLINE iv iv_repeat(const int32_t *from, int count) {
    if (count == 1) return vld1q_dup_s32(from);
    const int32x2_t pair = vld1_s32(from);
    return vcombine_s32(pair, pair);
}

KV_INLINE iv iv_even(iv a, iv b) { return vuzp1q_s32(a, b); }
KV_INLINE iv iv_odd(iv a, iv b) { return vuzp2q_s32(a, b); }
KV_INLINE iv iv_low(iv a, iv b) { return vzip1q_s32(a, b); }
KV_INLINE iv iv_high(iv a, iv b) { return vzip2q_s32(a, b); }

KV_INLINE iv_sample make_sample(int16_t x, int k) {
    (void)k;
    return vdup_n_s16((int16_t)-x);
}

KV_INLINE iv iv_branch(iv survivors, const branch_entries *entries, int i, iv_sample sample) {
    return vmlal_s16(vaddq_s32(survivors, vld1q_s32(entries->bias + i)), vld1_s16(entries->value + i), sample);
}

KV_INLINE void store_choices(uint8_t *out, const iv *w, int count, int32_t mask) {
    const int8x8_t m = vdup_n_s8((int8_t)mask);
    for (int v = 0; v < count; v += 2) {
        vst1_u8(out + 4 * v, vreinterpret_u8_s8(vand_s8(vmovn_s16(low_halves(w[v], w[v + 1])), m)));
    }
}

#undef EACH_QUARTER

#endif

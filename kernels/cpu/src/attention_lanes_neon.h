#ifndef ELIZA_ATTENTION_LANES_NEON_H
#define ELIZA_ATTENTION_LANES_NEON_H

enum { MATRIX_ROWS = 6, MATRIX_COLUMNS = 1, SCORE_ROWS = 4 };

#define EACH_QUARTER for (int q = 0; q < 4; ++q)

// vmaxq would lose which operand the NaN came from, but keeps it.
KV_INLINE vf vf_max(vf a, vf b) {
    EACH_QUARTER a.val[q] = vmaxq_f32(a.val[q], b.val[q]);
    return a;
}

KV_INLINE vf vf_div(vf a, vf b) {
    EACH_QUARTER a.val[q] = vdivq_f32(a.val[q], b.val[q]);
    return a;
}

KV_INLINE vf vf_of(vi a) {
    vf out;
    EACH_QUARTER out.val[q] = vcvtq_f32_s32(a.val[q]);
    return out;
}

KV_INLINE vf vf_power2(vi a) {
    vf out;
    EACH_QUARTER out.val[q] = vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(a.val[q], vdupq_n_s32(127)), 23));
    return out;
}

KV_INLINE vi vi_signed(vb a) {
    const int8x16_t bytes = vreinterpretq_s8_u8(a);
    const int16x8_t low = vmovl_s8(vget_low_s8(bytes));
    const int16x8_t high = vmovl_s8(vget_high_s8(bytes));
    return (vi){{vmovl_s16(vget_low_s16(low)), vmovl_s16(vget_high_s16(low)), vmovl_s16(vget_low_s16(high)),
                 vmovl_s16(vget_high_s16(high))}};
}

KV_INLINE vf vf_load_bfloat(const uint8_t *bytes) {
    vf out;
    EACH_QUARTER out.val[q] = vreinterpretq_f32_u32(vshll_n_u16(vreinterpret_u16_u8(vld1_u8(bytes + 8 * q)), 16));
    return out;
}

KV_INLINE void vf_transpose16(vf *rows) {
    vf out[16];
    KV_UNROLL
    for (int g = 0; g < 4; ++g) {
        EACH_QUARTER {
            const float32x4x2_t a = vtrnq_f32(rows[4 * g].val[q], rows[4 * g + 1].val[q]);
            const float32x4x2_t b = vtrnq_f32(rows[4 * g + 2].val[q], rows[4 * g + 3].val[q]);
            out[4 * q].val[g] = vcombine_f32(vget_low_f32(a.val[0]), vget_low_f32(b.val[0]));
            out[4 * q + 1].val[g] = vcombine_f32(vget_low_f32(a.val[1]), vget_low_f32(b.val[1]));
            out[4 * q + 2].val[g] = vcombine_f32(vget_high_f32(a.val[0]), vget_high_f32(b.val[0]));
            out[4 * q + 3].val[g] = vcombine_f32(vget_high_f32(a.val[1]), vget_high_f32(b.val[1]));
        }
    }
    for (int i = 0; i < 16; ++i) rows[i] = out[i];
}

#undef EACH_QUARTER

#endif

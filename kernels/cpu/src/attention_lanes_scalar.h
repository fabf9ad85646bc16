#ifndef ELIZA_ATTENTION_LANES_SCALAR_H
#define ELIZA_ATTENTION_LANES_SCALAR_H

enum { MATRIX_ROWS = 2, MATRIX_COLUMNS = 1, SCORE_ROWS = 2 };

#define EACH_LANE for (int i = 0; i < LANES; ++i)

KV_INLINE vf vf_max(vf a, vf b) {
    EACH_LANE a.lane[i] = a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i];
    return a;
}

KV_INLINE vf vf_div(vf a, vf b) {
    EACH_LANE a.lane[i] /= b.lane[i];
    return a;
}

KV_INLINE vf vf_of(vi a) {
    vf out;
    EACH_LANE out.lane[i] = (float)a.lane[i];
    return out;
}

KV_INLINE vf vf_power2(vi a) {
    vf out;
    EACH_LANE {
        const uint32_t bits = ((uint32_t)a.lane[i] + 127u) << 23;
        memcpy(&out.lane[i], &bits, sizeof(bits));
    }
    return out;
}

KV_INLINE vi vi_signed(vb a) {
    vi out;
    EACH_LANE out.lane[i] = (int8_t)a.byte[i];
    return out;
}

KV_INLINE vf vf_load_bfloat(const uint8_t *bytes) {
    vf out;
    EACH_LANE {
        const uint32_t bits = (uint32_t)read16(bytes + 2 * i) << 16;
        memcpy(&out.lane[i], &bits, sizeof(bits));
    }
    return out;
}

KV_INLINE void vf_transpose16(vf *rows) {
    for (int r = 0; r < LANES; ++r) {
        for (int i = 0; i < r; ++i) {
            const float other = rows[r].lane[i];
            rows[r].lane[i] = rows[i].lane[r];
            rows[i].lane[r] = other;
        }
    }
}

#undef EACH_LANE

#endif

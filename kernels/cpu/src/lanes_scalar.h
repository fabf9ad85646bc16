// Sixteen lanes in portable C: what the other instruction sets are held against.
#ifndef ELIZA_KV_LANES_SCALAR_H
#define ELIZA_KV_LANES_SCALAR_H

#include <math.h>

#include "lanes.h"

typedef struct vf {
    float lane[LANES];
} vf;

typedef struct vi {
    int32_t lane[LANES];
} vi;

typedef struct vb {
    uint8_t byte[LANES];
} vb;

#define EACH_LANE for (int i = 0; i < LANES; ++i)

KV_INLINE vf vf_set1(float value) {
    vf out;
    EACH_LANE out.lane[i] = value;
    return out;
}

KV_INLINE vf vf_zero(void) { return vf_set1(0.0f); }

KV_INLINE vf vf_load(const float *x) {
    vf out;
    memcpy(&out, x, sizeof(out));
    return out;
}

KV_INLINE void vf_store(float *x, vf a) { memcpy(x, &a, sizeof(a)); }

KV_INLINE vf vf_add(vf a, vf b) {
    EACH_LANE a.lane[i] += b.lane[i];
    return a;
}

KV_INLINE vf vf_sub(vf a, vf b) {
    EACH_LANE a.lane[i] -= b.lane[i];
    return a;
}

KV_INLINE vf vf_mul(vf a, vf b) {
    EACH_LANE a.lane[i] *= b.lane[i];
    return a;
}

KV_INLINE vf vf_fma(vf a, vf b, vf c) { return vf_add(vf_mul(a, b), c); }

KV_INLINE float vf_fold(vf a) {
    for (int half = LANES / 2; half >= 1; half /= 2) {
        for (int i = 0; i < half; ++i) a.lane[i] += a.lane[i + half];
    }
    return a.lane[0];
}

KV_INLINE vf vf_negate(vf a, uint32_t mask) {
    EACH_LANE a.lane[i] = (mask >> i) & 1u ? -a.lane[i] : a.lane[i];
    return a;
}

KV_INLINE vf vf_hadamard16(vf a) {
    for (int h = 1; h < LANES; h *= 2) {
        for (int base = 0; base < LANES; base += 2 * h) {
            for (int i = base; i < base + h; ++i) {
                const float x = a.lane[i];
                const float y = a.lane[i + h];
                a.lane[i] = x + y;
                a.lane[i + h] = x - y;
            }
        }
    }
    return a;
}

KV_INLINE uint32_t vf_positive(vf a) {
    uint32_t mask = 0;
    EACH_LANE mask |= (uint32_t)(a.lane[i] > 0.0f) << i;
    return mask;
}

KV_INLINE float half_to_float(uint16_t half) { return eliza_kv_float_from_half(half); }

KV_INLINE vf vf_load_half(const uint8_t *bytes) {
    vf out;
    EACH_LANE out.lane[i] = half_to_float(eliza_kv_read_word(bytes + 2 * i));
    return out;
}

KV_INLINE vf vf_lookup512(const float *table, vi index) {
    vf out;
    EACH_LANE out.lane[i] = table[index.lane[i]];
    return out;
}

KV_INLINE vf vf_lookup8(const float *table, vi index) { return vf_lookup512(table, index); }
KV_INLINE vf vf_lookup16(const float *table, vi index) { return vf_lookup512(table, index); }

// Below 2^22 the addition of 1.5·2^23 leaves no room for a fraction and rounds to even.
KV_INLINE vi vf_round(vf a) {
    vi out;
    EACH_LANE {
        const float shifted = a.lane[i] + 12582912.0f;
        out.lane[i] = (int32_t)(shifted - 12582912.0f);
    }
    return out;
}

typedef const float *vsearch;

KV_INLINE vsearch vsearch8(const float *thresholds) { return thresholds; }
KV_INLINE vsearch vsearch16(const float *thresholds) { return thresholds; }

// Counting all of them is quicker than a search: compilers make vectors of it.
KV_INLINE vi count_thresholds(const float *thresholds, vf a, int count) {
    vi out = {{0}};
    for (int t = 0; t < count; ++t) EACH_LANE out.lane[i] += a.lane[i] >= thresholds[t];
    return out;
}

KV_INLINE vi vi_codes8(vsearch search, vf a) { return count_thresholds(search, a, 7); }
KV_INLINE vi vi_codes16(vsearch search, vf a) { return count_thresholds(search, a, 15); }

KV_INLINE vi vi_and(vi a, int32_t mask) {
    EACH_LANE a.lane[i] &= mask;
    return a;
}

KV_INLINE vi vi_or(vi a, vi b) {
    EACH_LANE a.lane[i] |= b.lane[i];
    return a;
}

KV_INLINE vi vi_shl(vi a, int count) {
    EACH_LANE a.lane[i] = (int32_t)((uint32_t)a.lane[i] << count);
    return a;
}

KV_INLINE vi vi_shr(vi a, int count) {
    EACH_LANE a.lane[i] = (int32_t)((uint32_t)a.lane[i] >> count);
    return a;
}

KV_INLINE vi vi_mask_bit(vi a, uint32_t mask, int bit) {
    EACH_LANE a.lane[i] |= (int32_t)(((mask >> i) & 1u) << bit);
    return a;
}

KV_INLINE void vi_narrow(uint8_t *out, vi a) { EACH_LANE out[i] = (uint8_t)a.lane[i]; }
KV_INLINE void vi_narrow16(int16_t *out, vi a) { EACH_LANE out[i] = (int16_t)a.lane[i]; }

KV_INLINE vb vb_load16(const uint8_t *bytes) {
    vb out;
    memcpy(&out, bytes, sizeof(out));
    return out;
}

KV_INLINE vb vb_load_exact(const uint8_t *bytes, int count) {
    vb out = {{0}};
    memcpy(&out, bytes, (size_t)count);
    return out;
}

KV_INLINE vb vb_set_word(vb a, int i, uint16_t word) {
    memcpy(a.byte + 2 * i, &word, sizeof(word));
    return a;
}

KV_INLINE vi vi_bytes(vb a) {
    vi out;
    EACH_LANE out.lane[i] = a.byte[i];
    return out;
}

KV_INLINE vi vi_windows(vb a, int step) {
    vi out;
    EACH_LANE {
        const int at = step * i / 8;
        const uint32_t pair = a.byte[at] | (uint32_t)a.byte[at + 1] << 8;
        out.lane[i] = (int32_t)(pair >> (step * i % 8));
    }
    return out;
}

#undef EACH_LANE

#endif

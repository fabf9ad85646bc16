// fp16 and bf16 as docs/formats.md has it: round to nearest even, finite overflow to the largest, NaN to 0x7e00.
#ifndef ELIZA_KV_HALF_H
#define ELIZA_KV_HALF_H

#include <stdint.h>
#include <string.h>

#define ELIZA_KV_HALF_NAN 0x7e00u
#define ELIZA_KV_BFLOAT_NAN 0x7fc0u

static inline uint16_t eliza_kv_half_from_float(float value) {
    uint32_t word;
    memcpy(&word, &value, sizeof(word));
    const uint32_t sign = (word >> 16) & 0x8000u;
    const uint32_t magnitude = word & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return ELIZA_KV_HALF_NAN;
    if (magnitude >= 0x477ff000u) return (uint16_t)(sign | 0x7bffu);
    if (magnitude >= 0x38800000u) {
        const uint32_t odd = (magnitude >> 13) & 1u;
        return (uint16_t)(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
    }
    float absolute;
    memcpy(&absolute, &magnitude, sizeof(absolute));
    const float steps = absolute * 16777216.0f; // below 2^-14 a step is 2^-24; the product is exact
    uint32_t whole = (uint32_t)steps;
    const float rest = steps - (float)whole;
    if (rest > 0.5f || (rest == 0.5f && (whole & 1u))) whole += 1;
    return (uint16_t)(sign | whole);
}

static inline float eliza_kv_float_from_half(uint16_t half) {
    const uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
    const uint32_t exponent = (half >> 10) & 31u;
    const uint32_t fraction = half & 1023u;
    uint32_t word;
    if (exponent == 31) {
        word = sign | 0x7f800000u | (fraction << 13);
    } else if (exponent == 0) {
        const float value = (float)fraction * 0x1p-24f;
        memcpy(&word, &value, sizeof(word));
        word |= sign;
    } else {
        word = sign | ((exponent + 112u) << 23) | (fraction << 13);
    }
    float value;
    memcpy(&value, &word, sizeof(value));
    return value;
}

static inline uint16_t eliza_kv_bfloat_from_float(float value) {
    uint32_t word;
    memcpy(&word, &value, sizeof(word));
    if ((word & 0x7fffffffu) > 0x7f800000u) return ELIZA_KV_BFLOAT_NAN;
    return (uint16_t)((word + 0x7fffu + ((word >> 16) & 1u)) >> 16);
}

static inline float eliza_kv_float_from_bfloat(uint16_t bfloat) {
    const uint32_t word = (uint32_t)bfloat << 16;
    float value;
    memcpy(&value, &word, sizeof(value));
    return value;
}

static inline uint16_t eliza_kv_read_word(const uint8_t *bytes) { return (uint16_t)(bytes[0] | (bytes[1] << 8)); }

static inline void eliza_kv_write_word(uint8_t *bytes, uint16_t word) {
    bytes[0] = (uint8_t)(word & 255u);
    bytes[1] = (uint8_t)(word >> 8);
}

#endif

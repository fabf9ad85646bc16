#include <math.h>
#include <string.h>

#include "half.h"
#include "turbo4.h"

static const float ROOT = 0.1767766952966369f; // 1/sqrt(32)
static const float ZERO_BELOW = 0x1p-60f;

// Sum over 16 lanes in the specified order.
static float dot_lanes(const float *a, const float *b) {
    float lanes[16];
    for (int lane = 0; lane < 16; ++lane) {
        lanes[lane] = 0.0f + a[lane] * b[lane];
        lanes[lane] += a[lane + 16] * b[lane + 16];
    }
    for (int half = 8; half >= 1; half /= 2) {
        for (int lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
    }
    return lanes[0];
}

static void hadamard(float *x) {
    for (int h = 1; h < TURBO4_TILE; h *= 2) {
        for (int base = 0; base < TURBO4_TILE; base += 2 * h) {
            for (int i = base; i < base + h; ++i) {
                const float a = x[i];
                const float b = x[i + h];
                x[i] = a + b;
                x[i + h] = a - b;
            }
        }
    }
    for (int i = 0; i < TURBO4_TILE; ++i) x[i] *= ROOT;
}

static void flip_signs(float *x) {
    for (int i = 0; i < TURBO4_TILE; ++i) {
        if (!((turbo4_signs >> i) & 1u)) x[i] = -x[i];
    }
}

static void rotate_tile(const float *x, float *rotated) {
    memcpy(rotated, x, TURBO4_TILE * sizeof(float));
    flip_signs(rotated);
    hadamard(rotated);
}

// How many thresholds are at most v.
static uint8_t code_of(float v) {
    int code = 0;
    for (int step = 8; step > 0; step >>= 1) {
        if (v >= turbo4_thresholds[code + step - 1]) code += step;
    }
    return (uint8_t)code;
}

// The candidate scale whose least-squares fit explains most; the fit, and its codes.
static float search(const float *unit, uint8_t *codes) {
    float best = -1.0f;
    float fit = 0.0f;
    for (int f = 0; f < TURBO4_FACTORS; ++f) {
        uint8_t trial[TURBO4_TILE];
        float values[TURBO4_TILE];
        for (int i = 0; i < TURBO4_TILE; ++i) {
            trial[i] = code_of(unit[i] * turbo4_factors[f]);
            values[i] = turbo4_centroids[trial[i]];
        }
        const float num = dot_lanes(unit, values);
        const float den = dot_lanes(values, values);
        const float explained = num * num / den;
        if (explained > best) {
            best = explained;
            fit = num / den;
            memcpy(codes, trial, TURBO4_TILE);
        }
    }
    return fit;
}

static void encode_tile(const float *x, uint8_t *bytes, bool reference) {
    memset(bytes, 0, TURBO4_BYTES);
    float z[TURBO4_TILE];
    rotate_tile(x, z);
    const float energy = dot_lanes(z, z);
    if (!(energy < INFINITY)) {
        eliza_kv_write_word(bytes, ELIZA_KV_HALF_NAN);
        return;
    }
    if (energy < ZERO_BELOW) return;
    const float rms = sqrtf(energy / TURBO4_TILE);
    const float inverse = 1.0f / rms;
    float unit[TURBO4_TILE];
    for (int i = 0; i < TURBO4_TILE; ++i) unit[i] = z[i] * inverse;
    uint8_t codes[TURBO4_TILE] = {0};
    float scale = rms;
    if (reference) {
        for (int i = 0; i < TURBO4_TILE; ++i) codes[i] = code_of(unit[i]);
    } else {
        scale = rms * search(unit, codes);
    }
    eliza_kv_write_word(bytes, eliza_kv_half_from_float(scale));
    for (int i = 0; i < 16; ++i) bytes[2 + i] = (uint8_t)(codes[i] | (codes[i + 16] << 4));
}

static void decode_tile(const uint8_t *bytes, float *x, bool original) {
    const float scale = eliza_kv_float_from_half(eliza_kv_read_word(bytes));
    for (int i = 0; i < 16; ++i) {
        x[i] = turbo4_centroids[bytes[2 + i] & 15] * scale;
        x[i + 16] = turbo4_centroids[bytes[2 + i] >> 4] * scale;
    }
    if (!original) return;
    hadamard(x);
    flip_signs(x);
}

static float dot(const uint8_t *bytes, const float *prepared, int64_t n) {
    float sum = 0.0f;
    for (int64_t tile = 0; tile < n / TURBO4_TILE; ++tile) {
        const uint8_t *at = bytes + tile * TURBO4_BYTES;
        float values[TURBO4_TILE];
        for (int i = 0; i < 16; ++i) {
            values[i] = turbo4_centroids[at[2 + i] & 15];
            values[i + 16] = turbo4_centroids[at[2 + i] >> 4];
        }
        sum += dot_lanes(values, prepared + tile * TURBO4_TILE) * eliza_kv_float_from_half(eliza_kv_read_word(at));
    }
    return sum;
}

const turbo4_kernels turbo4_scalar = {encode_tile, decode_tile, rotate_tile, dot};

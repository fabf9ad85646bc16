// The trellis formats: tail-biting tiles at any rate k and width, and turbo3_tcq's layout with start bits.
#ifndef ELIZA_KV_TRELLIS_H
#define ELIZA_KV_TRELLIS_H

enum { MAX_STEPS = 128, PREFIXED_BYTES = 52 };

// What a run leaves: the predecessor of every group after every sample, and the packed minima after the last.
typedef struct path_memory {
    _Alignas(64) int32_t last[TRELLIS_STATES / 2 + 16];
    uint8_t choices[MAX_STEPS * (TRELLIS_STATES / 2) + 64];
} path_memory;

// More than any allowed path costs.
enum { FORBIDDEN_COST = 1 << 24 };

#ifdef KV_SCALAR
#include "viterbi_scalar.h"
#else
#include "viterbi_vector.h"
#endif

// One function a rate, so that k is a constant inside.
#define DEFINE_VITERBI(k)                                                                                              \
    static void viterbi_##k(const int16_t *samples, int steps, const branch_table *table, int anchor,                  \
                            path_memory *memory) {                                                                     \
        viterbi_run(k, samples, steps, table, anchor, memory);                                                         \
    }
DEFINE_VITERBI(1)
DEFINE_VITERBI(2)
DEFINE_VITERBI(3)
DEFINE_VITERBI(4)
DEFINE_VITERBI(5)
DEFINE_VITERBI(6)

// The last state of the best path from the anchor to itself, or between free ends if it is negative.
KV_BODY int viterbi(int k, const int16_t *samples, int steps, const branch_table *table, int anchor,
                    path_memory *memory) {
    switch (k) {
    case 1:
        viterbi_1(samples, steps, table, anchor, memory);
        break;
    case 2:
        viterbi_2(samples, steps, table, anchor, memory);
        break;
    case 3:
        viterbi_3(samples, steps, table, anchor, memory);
        break;
    case 4:
        viterbi_4(samples, steps, table, anchor, memory);
        break;
    case 5:
        viterbi_5(samples, steps, table, anchor, memory);
        break;
    default:
        viterbi_6(samples, steps, table, anchor, memory);
        break;
    }
    const int predecessors = 1 << k;
    int group = anchor < 0 ? 0 : anchor;
    if (anchor < 0) {
        for (int j = 1; j < TRELLIS_STATES >> k; ++j) {
            // p decides between equal costs only inside a group; the lowest group wins between groups
            if ((memory->last[j] | (predecessors - 1)) < (memory->last[group] | (predecessors - 1))) group = j;
        }
    }
    return group << k | (memory->last[group] & (predecessors - 1));
}

// The states after samples first to steps − 1 of the path that ends in `state`; returns the one after `first`.
KV_BODY int trace_back(int k, int state, int first, int steps, const path_memory *memory, uint16_t *states) {
    const int groups = TRELLIS_STATES >> k;
    for (int t = steps - 1; t > first; --t) {
        states[t] = (uint16_t)state;
        const int group = state & (groups - 1);
        state = group << k | memory->choices[(t - 1) * groups + group];
    }
    states[first] = (uint16_t)state;
    return state;
}

KV_BODY void samples_of(int k, const vf *unit, int width, int16_t *samples) {
    const vf scale = vf_set1(TRELLIS_SAMPLE_SCALES[k - 1]);
    for (int r = 0; r < width / LANES; ++r) vi_narrow16(samples + LANES * r, vf_round(vf_mul(unit[r], scale)));
}

// A free run over the samples around the wrap settles the state there; one run anchored to it codes the tile.
KV_BODY void tail_biting_states(int k, const vf *unit, int width, const branch_table *table, uint16_t *states) {
    const int context = TRELLIS_CONTEXTS[k - 1];
    path_memory memory;
    int16_t samples[MAX_STEPS];
    int16_t around[MAX_STEPS];
    samples_of(k, unit, width, samples);
    for (int i = 0; i < 2 * context; ++i) around[i] = samples[(i - context) & (width - 1)];
    const int end = viterbi(k, around, 2 * context, table, -1, &memory);
    const int anchor = trace_back(k, end, context - 1, 2 * context, &memory, states) >> k;
    trace_back(k, viterbi(k, samples, width, table, anchor, &memory), 0, width, &memory, states);
}

typedef struct path_fit {
    float energy; // Σ c·c
    float fit;    // Σ u·c / Σ c·c
} path_fit;

KV_BODY path_fit fit_path(int k, const uint16_t *states, const vf *unit, int width) {
    float path[128];
    vf c[MAX_REGISTERS];
    for (int i = 0; i < width; ++i) path[i] = trellis_floats[k - 1][states[i]];
    load_tile(c, path, width);
    const float energy = dot_tile(c, c, width);
    return (path_fit){energy, energy > 0.0f ? dot_tile(unit, c, width) / energy : 0.0f};
}

// The low k bits of every state, one after the other: the state after sample t is then the window at bit k·t.
KV_BODY uint8_t *write_low_bits(int k, const uint16_t *states, int width, uint8_t *stream) {
    for (int base = 0; base < width; base += 8) {
        uint64_t bits = 0;
        for (int i = 0; i < 8; ++i) bits |= (uint64_t)(states[base + i] & ((1 << k) - 1)) << (k * i);
        memcpy(stream, &bits, (size_t)k);
        stream += k;
    }
    return stream;
}

// ---- a tail-biting tile

KV_BODY int trellis_bytes(int k, int width) { return 2 + width * k / 8; }

KV_BODY void trellis_encode_tile(int k, int width, const float *x, uint8_t *bytes, const branch_table *table) {
    memset(bytes, 0, (size_t)trellis_bytes(k, width));
    vf z[MAX_REGISTERS];
    vf unit[MAX_REGISTERS];
    load_tile(z, x, width);
    rotate_tile(z, width);
    const normalised tile = normalise_tile(z, unit, width);
    if (tile.kind != TILE_CODED) {
        write_uncoded(bytes, tile.kind);
        return;
    }
    uint16_t states[128];
    tail_biting_states(k, unit, width, table, states);
    const float scale = tile.rms * fit_path(k, states, unit, width).fit / TRELLIS_STEPS[k - 1];
    eliza_kv_write_word(bytes, eliza_kv_half_from_float(scale));
    write_low_bits(k, states, width, bytes + 2);
}

#ifndef KV_TRELLIS_VALUES
// Values of the states along a stream of width·k bits; past them come `beyond`, the bits of its first two bytes.
KV_BODY void trellis_values_of(int k, int width, const uint8_t *stream, uint16_t beyond, vf *values) {
    for (int r = 0; r < width / LANES; ++r) {
        const bool last = r == width / LANES - 1;
        vb bits = vb_load_exact(stream + 2 * k * r, last ? 2 * k : 2 * k + 2);
        if (last) bits = vb_set_word(bits, k, beyond);
        values[r] = vf_lookup512(trellis_floats[k - 1], vi_and(vi_windows(bits, k), TRELLIS_STATES - 1));
    }
}
#endif

KV_BODY float trellis_read(int k, int width, const uint8_t *bytes, vf *values) {
    trellis_values_of(k, width, bytes + 2, read16(bytes + 2), values);
    return half_to_float(read16(bytes)) * TRELLIS_STEPS[k - 1];
}

// ---- turbo3_tcq at 128: six start bits, then the symbols, free ends

KV_BODY void prefixed_encode_tile(const float *x, uint8_t *bytes, bool reference, const branch_table *table) {
    memset(bytes, 0, PREFIXED_BYTES);
    vf z[MAX_REGISTERS];
    vf unit[MAX_REGISTERS];
    load_tile(z, x, 128);
    rotate_tile(z, 128);
    const normalised tile = normalise_tile(z, unit, 128);
    if (tile.kind != TILE_CODED) {
        write_uncoded(bytes, tile.kind);
        return;
    }
    path_memory memory;
    int16_t samples[128];
    uint16_t states[128];
    samples_of(3, unit, 128, samples);
    trace_back(3, viterbi(3, samples, 128, table, -1, &memory), 0, 128, &memory, states);
    const path_fit path = fit_path(3, states, unit, 128);
    const float step = TRELLIS_PREFIXED_STEP[0];
    const float length = reference ? sqrtf(tile.energy) / (sqrtf(path.energy) * step) : tile.rms * path.fit / step;
    eliza_kv_write_word(bytes, eliza_kv_half_from_float(length));
    *write_low_bits(3, states, 128, bytes + 2) = (uint8_t)(states[127] >> 3);
}

KV_BODY float prefixed_read(const uint8_t *bytes, vf *values) {
    trellis_values_of(3, 128, bytes + 2, read16(bytes + 50), values);
    return half_to_float(read16(bytes)) * TRELLIS_PREFIXED_STEP[0];
}

// ---- functions of one rate and width, for rows and for the runs of a mixed head

typedef struct trellis_tile {
    void (*encode)(const float *x, uint8_t *bytes, const branch_table *table);
    void (*decode)(const uint8_t *bytes, float *x, bool original);
    float (*dot)(const uint8_t *bytes, const float *prepared);
} trellis_tile;

#define DEFINE_TILE(k, width)                                                                                          \
    static void trellis_##k##_##width##_encode(const float *x, uint8_t *bytes, const branch_table *table) {            \
        trellis_encode_tile(k, width, x, bytes, table);                                                                \
    }                                                                                                                  \
    KV_BODY float trellis_##k##_##width##_read(const uint8_t *bytes, vf *values) {                                     \
        return trellis_read(k, width, bytes, values);                                                                  \
    }                                                                                                                  \
    static void trellis_##k##_##width##_decode(const uint8_t *bytes, float *x, bool original) {                        \
        decode_row(bytes, x, width, original, width, width, 0, trellis_##k##_##width##_read, unrotate_tile);           \
    }                                                                                                                  \
    static float trellis_##k##_##width##_dot(const uint8_t *bytes, const float *prepared) {                            \
        return dot_row(bytes, prepared, width, width, 0, trellis_##k##_##width##_read);                                \
    }
#define DEFINE_WIDTHS(k) DEFINE_TILE(k, 32) DEFINE_TILE(k, 64) DEFINE_TILE(k, 128)
DEFINE_WIDTHS(1)
DEFINE_WIDTHS(2)
DEFINE_WIDTHS(3)
DEFINE_WIDTHS(4)
DEFINE_WIDTHS(5)
DEFINE_WIDTHS(6)

#define TILE(k, width)                                                                                                 \
    { trellis_##k##_##width##_encode, trellis_##k##_##width##_decode, trellis_##k##_##width##_dot }
#define TILES(k)                                                                                                       \
    { TILE(k, 32), TILE(k, 64), TILE(k, 128) }

static const trellis_tile TRELLIS_TILES[TRELLIS_RATES][3] = {TILES(1), TILES(2), TILES(3),
                                                             TILES(4), TILES(5), TILES(6)};

// ---- rows of equal tiles

#define DEFINE_TRELLIS_FORMAT(format, k, width)                                                                        \
    static void format##_encode(const float *row, uint8_t *bytes, int64_t n, bool reference) {                         \
        (void)reference; /* nothing else was documented for this layout */                                             \
        branch_table own;                                                                                              \
        const branch_table *table = branch_table_of(k, &own);                                                          \
        for (int64_t tile = 0; tile < n / width; ++tile) {                                                             \
            trellis_##k##_##width##_encode(row + tile * width, bytes + tile * trellis_bytes(k, width), table);         \
        }                                                                                                              \
    }                                                                                                                  \
    static void format##_decode(const uint8_t *bytes, float *row, int64_t n, bool original) {                          \
        decode_row(bytes, row, n, original, width, width, trellis_bytes(k, width), trellis_##k##_##width##_read,       \
                   unrotate_tile);                                                                                     \
    }                                                                                                                  \
    static float format##_dot(const uint8_t *bytes, const void *prepared, int64_t n) {                                 \
        return dot_row(bytes, prepared, n, width, trellis_bytes(k, width), trellis_##k##_##width##_read);              \
    }
DEFINE_TRELLIS_FORMAT(turbo3_tcq_64, 3, 64)
DEFINE_TRELLIS_FORMAT(turbo4_tcq, 4, 128)
DEFINE_TRELLIS_FORMAT(turbo4_tcq_64, 4, 64)
DEFINE_TRELLIS_FORMAT(turbo2_tcq, 2, 128)
DEFINE_TRELLIS_FORMAT(turbo2_tcq_64, 2, 64)

static void turbo3_tcq_encode(const float *row, uint8_t *bytes, int64_t n, bool reference) {
    branch_table own;
    const branch_table *table = branch_table_of(3, &own);
    for (int64_t tile = 0; tile < n / 128; ++tile) {
        prefixed_encode_tile(row + tile * 128, bytes + tile * PREFIXED_BYTES, reference, table);
    }
}

static void turbo3_tcq_decode(const uint8_t *bytes, float *row, int64_t n, bool original) {
    decode_row(bytes, row, n, original, 128, 128, PREFIXED_BYTES, prefixed_read, unrotate_tile);
}

static float turbo3_tcq_dot(const uint8_t *bytes, const void *prepared, int64_t n) {
    return dot_row(bytes, prepared, n, 128, PREFIXED_BYTES, prefixed_read);
}

#endif

// The trellis formats: tail-biting tiles at any rate k and width, and turbo3_tcq's layout with start bits.
#ifndef ELIZA_KV_TRELLIS_H
#define ELIZA_KV_TRELLIS_H

enum { MAX_STEPS = 128, PREFIXED_BYTES = 52 };

// What a run leaves: the predecessor of every group after every sample, and the packed minima after the last.
typedef struct path_memory {
    _Alignas(64) int32_t last[TRELLIS_STATES / 2 + 16];
    uint8_t choices[MAX_STEPS * (TRELLIS_STATES / 2) + 64];
} path_memory;

typedef struct tile_samples {
    int16_t x[MAX_STEPS];
} tile_samples;

typedef struct tile_states {
    uint16_t after[MAX_STEPS];
} tile_states;

// More than any allowed path costs.
enum { FORBIDDEN_COST = 1 << 24 };

#ifdef KV_SCALAR
#include "viterbi_scalar.h"
#else
#include "viterbi_vector.h"
#endif

// One function a rate, so that k is a constant inside.
#define DEFINE_VITERBI(k)                                                                                              \
    static void viterbi_##k(int tiles, const tile_samples *samples, int steps, const branch_table *table,              \
                            const int *anchors, path_memory *memory) {                                                 \
        if (IV_TILES == 2 && tiles == 2) {                                                                             \
            viterbi_run(k, IV_TILES, samples, steps, table, anchors, memory);                                          \
        } else {                                                                                                       \
            viterbi_run(k, 1, samples, steps, table, anchors, memory);                                                 \
        }                                                                                                              \
    }
DEFINE_VITERBI(1)
DEFINE_VITERBI(2)
DEFINE_VITERBI(3)
DEFINE_VITERBI(4)
DEFINE_VITERBI(5)
DEFINE_VITERBI(6)

static void (*const VITERBI[TRELLIS_RATES])(int, const tile_samples *, int, const branch_table *, const int *,
                                            path_memory *) = {viterbi_1, viterbi_2, viterbi_3,
                                                              viterbi_4, viterbi_5, viterbi_6};

// The last state of the best path from the anchor to itself, or between free ends if it is negative.
KV_BODY int last_state(int k, int anchor, const path_memory *memory) {
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
KV_BODY int trace_back(int k, int state, int first, int steps, const path_memory *memory, tile_states *states) {
    const int groups = TRELLIS_STATES >> k;
    for (int t = steps - 1; t > first; --t) {
        states->after[t] = (uint16_t)state;
        const int group = state & (groups - 1);
        state = group << k | memory->choices[(t - 1) * groups + group];
    }
    states->after[first] = (uint16_t)state;
    return state;
}

KV_BODY void samples_of(int k, const vf *unit, int width, tile_samples *samples) {
    const vf scale = vf_set1(TRELLIS_SAMPLE_SCALES[k - 1]);
    for (int r = 0; r < width / LANES; ++r) vi_narrow16(samples->x + LANES * r, vf_round(vf_mul(unit[r], scale)));
}

// A free run over the samples around the wrap settles the state there; one run anchored to it codes the tile.
KV_BODY void tail_biting_states(int k, int width, int tiles, const tile_samples *samples, const branch_table *table,
                                tile_states *states) {
    const int context = TRELLIS_CONTEXTS[k - 1];
    path_memory memory[IV_TILES];
    tile_samples around[IV_TILES] = {0};
    int anchors[IV_TILES] = {0};
    for (int tile = 0; tile < tiles; ++tile) {
        anchors[tile] = -1;
        for (int i = 0; i < 2 * context; ++i) around[tile].x[i] = samples[tile].x[(i - context) & (width - 1)];
    }
    VITERBI[k - 1](tiles, around, 2 * context, table, anchors, memory);
    for (int tile = 0; tile < tiles; ++tile) {
        const int end = last_state(k, -1, &memory[tile]);
        anchors[tile] = trace_back(k, end, context - 1, 2 * context, &memory[tile], &states[tile]) >> k;
    }
    VITERBI[k - 1](tiles, samples, width, table, anchors, memory);
    for (int tile = 0; tile < tiles; ++tile) {
        trace_back(k, last_state(k, anchors[tile], &memory[tile]), 0, width, &memory[tile], &states[tile]);
    }
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

// A tile that is ready for the trellis; one that has no codes goes through it as zeros.
typedef struct trellis_input {
    normalised tile;
    vf unit[MAX_REGISTERS];
} trellis_input;

KV_BODY void prepare_input(int k, int width, const float *x, trellis_input *input, tile_samples *samples) {
    vf z[MAX_REGISTERS];
    load_tile(z, x, width);
    rotate_tile(z, width);
    input->tile = normalise_tile(z, input->unit, width);
    if (input->tile.kind != TILE_CODED) {
        for (int r = 0; r < width / LANES; ++r) input->unit[r] = vf_zero();
    }
    samples_of(k, input->unit, width, samples);
}

// One tile, or IV_TILES that stand so far apart, side by side.
KV_BODY void trellis_encode_tiles(int k, int width, int tiles, const float *x, int64_t x_apart, uint8_t *bytes,
                                  int64_t bytes_apart, const branch_table *table) {
    trellis_input input[IV_TILES];
    tile_samples samples[IV_TILES] = {0};
    tile_states states[IV_TILES] = {0};
    for (int i = 0; i < tiles; ++i) prepare_input(k, width, x + i * x_apart, &input[i], &samples[i]);
    tail_biting_states(k, width, tiles, samples, table, states);
    for (int i = 0; i < tiles; ++i, bytes += bytes_apart) {
        memset(bytes, 0, (size_t)trellis_bytes(k, width));
        if (input[i].tile.kind != TILE_CODED) {
            write_uncoded(bytes, input[i].tile.kind);
            continue;
        }
        const float fit = fit_path(k, states[i].after, input[i].unit, width).fit;
        eliza_kv_write_word(bytes, eliza_kv_half_from_float(input[i].tile.rms * fit / TRELLIS_STEPS[k - 1]));
        write_low_bits(k, states[i].after, width, bytes + 2);
    }
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

KV_BODY void prefixed_encode_tiles(int tiles, const float *x, uint8_t *bytes, bool reference,
                                   const branch_table *table) {
    const float step = TRELLIS_PREFIXED_STEP[0];
    trellis_input input[IV_TILES];
    tile_samples samples[IV_TILES] = {0};
    path_memory memory[IV_TILES];
    int anchors[IV_TILES] = {0};
    for (int i = 0; i < tiles; ++i) {
        anchors[i] = -1;
        prepare_input(3, 128, x + 128 * i, &input[i], &samples[i]);
    }
    viterbi_3(tiles, samples, 128, table, anchors, memory);
    for (int i = 0; i < tiles; ++i, bytes += PREFIXED_BYTES) {
        memset(bytes, 0, PREFIXED_BYTES);
        const normalised tile = input[i].tile;
        if (tile.kind != TILE_CODED) {
            write_uncoded(bytes, tile.kind);
            continue;
        }
        tile_states states;
        trace_back(3, last_state(3, -1, &memory[i]), 0, 128, &memory[i], &states);
        const path_fit path = fit_path(3, states.after, input[i].unit, 128);
        const float length = reference ? sqrtf(tile.energy) / (sqrtf(path.energy) * step) : tile.rms * path.fit / step;
        eliza_kv_write_word(bytes, eliza_kv_half_from_float(length));
        *write_low_bits(3, states.after, 128, bytes + 2) = (uint8_t)(states.after[127] >> 3);
    }
}

KV_BODY float prefixed_read(const uint8_t *bytes, vf *values) {
    trellis_values_of(3, 128, bytes + 2, read16(bytes + 50), values);
    return half_to_float(read16(bytes)) * TRELLIS_PREFIXED_STEP[0];
}

// ---- functions of one rate and width, for rows and for the runs of a mixed head

typedef struct trellis_tile {
    // tiles is at most IV_TILES
    void (*encode)(int tiles, const float *x, int64_t x_apart, uint8_t *bytes, int64_t bytes_apart,
                   const branch_table *table);
    void (*decode)(const uint8_t *bytes, float *x, bool original);
    float (*dot)(const uint8_t *bytes, const float *prepared);
} trellis_tile;

#define DEFINE_TILE(k, width)                                                                                          \
    static void trellis_##k##_##width##_encode(int tiles, const float *x, int64_t x_apart, uint8_t *bytes,             \
                                               int64_t bytes_apart, const branch_table *table) {                       \
        trellis_encode_tiles(k, width, tiles, x, x_apart, bytes, bytes_apart, table);                                  \
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

// How many of the tiles that are left are coded at once.
KV_BODY int64_t side_by_side(int64_t left) { return left < IV_TILES ? left : IV_TILES; }

// ---- rows of equal tiles

#define DEFINE_TRELLIS_FORMAT(format, k, width)                                                                        \
    static void format##_encode(const float *row, uint8_t *bytes, int64_t n, bool reference) {                         \
        (void)reference; /* nothing else was documented for this layout */                                             \
        branch_table own;                                                                                              \
        const branch_table *table = branch_table_of(k, &own);                                                          \
        const int64_t size = trellis_bytes(k, width);                                                                  \
        for (int64_t tile = 0, tiles; tile < n / width; tile += tiles) {                                               \
            tiles = side_by_side(n / width - tile);                                                                    \
            trellis_##k##_##width##_encode((int)tiles, row + tile * width, width, bytes + tile * size, size, table);   \
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
    for (int64_t tile = 0, tiles; tile < n / 128; tile += tiles) {
        tiles = side_by_side(n / 128 - tile);
        prefixed_encode_tiles((int)tiles, row + tile * 128, bytes + tile * PREFIXED_BYTES, reference, table);
    }
}

static void turbo3_tcq_decode(const uint8_t *bytes, float *row, int64_t n, bool original) {
    decode_row(bytes, row, n, original, 128, 128, PREFIXED_BYTES, prefixed_read, unrotate_tile);
}

static float turbo3_tcq_dot(const uint8_t *bytes, const void *prepared, int64_t n) {
    return dot_row(bytes, prepared, n, 128, PREFIXED_BYTES, prefixed_read);
}

#endif

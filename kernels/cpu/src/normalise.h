// Sums over a tile, and bringing it to unit mean square.
#ifndef ELIZA_KV_NORMALISE_H
#define ELIZA_KV_NORMALISE_H

#include <math.h>

// Σ a·b over 16 lanes in the specified order.
KV_BODY float dot_tile(const vf *a, const vf *b, int width) {
    vf sum = vf_zero();
    for (int r = 0; r < width / LANES; ++r) sum = vf_add(sum, vf_mul(a[r], b[r]));
    return vf_fold(sum);
}

// Why a tile has no codes: all bytes zero, or a NaN scale and zero codes.
typedef enum tile_kind { TILE_CODED, TILE_ZERO, TILE_NOT_FINITE } tile_kind;

typedef struct normalised {
    tile_kind kind;
    float energy;
    float rms;
} normalised;

KV_BODY normalised normalise_tile(const vf *z, vf *unit, int width) {
    normalised tile = {TILE_CODED, dot_tile(z, z, width), 0.0f};
    if (!(tile.energy < INFINITY)) {
        tile.kind = TILE_NOT_FINITE;
    } else if (tile.energy < 0x1p-60f) {
        tile.kind = TILE_ZERO;
    } else {
        tile.rms = sqrtf(tile.energy * (1.0f / (float)width));
        const float inverse = 1.0f / tile.rms;
        for (int r = 0; r < width / LANES; ++r) unit[r] = vf_mul(z[r], vf_set1(inverse));
    }
    return tile;
}

// The scale word of a tile that has no codes; its other bytes are zero already.
KV_BODY void write_uncoded(uint8_t *bytes, tile_kind kind) {
    if (kind == TILE_NOT_FINITE) eliza_kv_write_word(bytes, ELIZA_KV_HALF_NAN);
}

#endif

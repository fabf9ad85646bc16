// The formats with a code a value: turbo4, tbq3, turbo3, q4_polar.
#ifndef ELIZA_KV_SCALAR_FORMATS_H
#define ELIZA_KV_SCALAR_FORMATS_H

enum { TURBO4_BYTES = 18, TBQ3_BYTES = 14, TURBO3_BYTES = 14, POLAR_BYTES = 82 };

// Eight codes of three bits each, one a byte, to 24 bits.
KV_BODY uint32_t pack_3bit(uint64_t codes) {
    codes = (codes | codes >> 5) & 0x003f003f003f003fu;
    codes = (codes | codes >> 10) & 0x00000fff00000fffu;
    return (uint32_t)(codes | codes >> 20);
}

// Eight codes of four bits each, one a byte, to 32 bits.
KV_BODY uint32_t pack_4bit(uint64_t codes) {
    codes = (codes | codes >> 4) & 0x00ff00ff00ff00ffu;
    codes = (codes | codes >> 8) & 0x0000ffff0000ffffu;
    return (uint32_t)(codes | codes >> 16);
}

// ---- turbo4: 32 values, low nibbles the first half, high nibbles the second

static void turbo4_encode_tile(const float *x, uint8_t *bytes, bool reference) {
    memset(bytes, 0, TURBO4_BYTES);
    vf z[2];
    vf unit[2];
    load_tile(z, x, 32);
    rotate_tile(z, 32);
    const normalised tile = normalise_tile(z, unit, 32);
    if (tile.kind != TILE_CODED) {
        write_uncoded(bytes, tile.kind);
        return;
    }
    vi codes[2];
    float scale = tile.rms;
    if (reference) {
        codes_at(&TURBO4_TABLE, unit, 32, 1.0f, codes);
    } else {
        scale = tile.rms * search_scale(&TURBO4_TABLE, unit, 32, codes);
    }
    eliza_kv_write_word(bytes, eliza_kv_half_from_float(scale));
    vi_narrow(bytes + 2, vi_or(codes[0], vi_shl(codes[1], 4)));
}

KV_BODY float turbo4_read(const uint8_t *bytes, vf *values) {
    const vi pairs = vi_bytes(vb_load16(bytes + 2));
    values[0] = vf_lookup16(TURBO4_TABLE.centroids, vi_and(pairs, 15));
    values[1] = vf_lookup16(TURBO4_TABLE.centroids, vi_shr(pairs, 4));
    return half_to_float(read16(bytes));
}

static void turbo4_encode(const float *row, uint8_t *bytes, int64_t n, bool reference) {
    encode_row(row, bytes, n, reference, 32, TURBO4_BYTES, turbo4_encode_tile);
}

static void turbo4_decode(const uint8_t *bytes, float *row, int64_t n, bool original) {
    decode_row(bytes, row, n, original, 32, 32, TURBO4_BYTES, turbo4_read, unrotate_tile);
}

static float turbo4_dot(const uint8_t *bytes, const void *prepared, int64_t n) {
    return dot_row(bytes, prepared, n, 32, TURBO4_BYTES, turbo4_read);
}

// ---- tbq3: 32 values, a stream of 3-bit codes

static void tbq3_encode_tile(const float *x, uint8_t *bytes, bool reference) {
    memset(bytes, 0, TBQ3_BYTES);
    vf z[2];
    vf unit[2];
    load_tile(z, x, 32);
    rotate_tile(z, 32);
    const normalised tile = normalise_tile(z, unit, 32);
    if (tile.kind != TILE_CODED) {
        write_uncoded(bytes, tile.kind);
        return;
    }
    vi codes[2];
    float scale = tile.rms;
    if (reference) {
        codes_at(&TBQ3_TABLE, unit, 32, 1.0f, codes);
    } else {
        scale = tile.rms * search_scale(&TBQ3_TABLE, unit, 32, codes);
    }
    eliza_kv_write_word(bytes, eliza_kv_half_from_float(scale));
    uint8_t code[32];
    vi_narrow(code, codes[0]);
    vi_narrow(code + 16, codes[1]);
    for (int i = 0; i < 4; ++i) {
        const uint32_t packed = pack_3bit(read64(code + 8 * i));
        memcpy(bytes + 2 + 3 * i, &packed, 3);
    }
}

KV_BODY float tbq3_read(const uint8_t *bytes, vf *values) {
    for (int r = 0; r < 2; ++r) {
        const vi windows = vi_windows(vb_load_exact(bytes + 2 + 6 * r, 6), 3);
        values[r] = vf_lookup8(TBQ3_TABLE.centroids, vi_and(windows, 7));
    }
    return half_to_float(read16(bytes));
}

static void tbq3_encode(const float *row, uint8_t *bytes, int64_t n, bool reference) {
    encode_row(row, bytes, n, reference, 32, TBQ3_BYTES, tbq3_encode_tile);
}

static void tbq3_decode(const uint8_t *bytes, float *row, int64_t n, bool original) {
    decode_row(bytes, row, n, original, 32, 32, TBQ3_BYTES, tbq3_read, unrotate_tile);
}

static float tbq3_dot(const uint8_t *bytes, const void *prepared, int64_t n) {
    return dot_row(bytes, prepared, n, 32, TBQ3_BYTES, tbq3_read);
}

// ---- turbo3: blocks of 32 in a tile of 128 or 64; two low bits of each code, then the high bits

KV_BODY void turbo3_write_block(uint8_t *bytes, float norm, const vi *codes) {
    eliza_kv_write_word(bytes, eliza_kv_half_from_float(norm));
    uint8_t code[32];
    vi_narrow(code, codes[0]);
    vi_narrow(code + 16, codes[1]);
    for (int i = 0; i < 4; ++i) {
        const uint64_t eight = read64(code + 8 * i);
        uint64_t low = eight & 0x0303030303030303u;
        low = (low | low >> 6) & 0x000f000f000f000fu;
        low = (low | low >> 12) & 0x000000ff000000ffu;
        eliza_kv_write_word(bytes + 2 + 2 * i, (uint16_t)(low | low >> 24));
        // the product gathers the eight high bits in the top byte
        bytes[10 + i] = (uint8_t)(((eight >> 2 & 0x0101010101010101u) * 0x0102040810204080u) >> 56);
    }
}

KV_BODY void turbo3_encode_reference(const vf *z, uint8_t *bytes, int width) {
    vf unit[MAX_REGISTERS];
    const normalised tile = normalise_tile(z, unit, width);
    if (tile.kind != TILE_CODED) {
        for (int b = 0; b < width / 32; ++b) write_uncoded(bytes + b * TURBO3_BYTES, tile.kind);
        return;
    }
    vi codes[MAX_REGISTERS];
    vf values[MAX_REGISTERS];
    codes_at(&TURBO3_TABLE, unit, width, root_of(128), codes);
    for (int r = 0; r < width / LANES; ++r) values[r] = centroids_of(&TURBO3_TABLE, codes[r]);
    const float norm = sqrtf(tile.energy) / sqrtf(dot_tile(values, values, width));
    for (int b = 0; b < width / 32; ++b) turbo3_write_block(bytes + b * TURBO3_BYTES, norm, codes + 2 * b);
}

KV_BODY void turbo3_encode_tile(const float *x, uint8_t *bytes, bool reference, int width) {
    memset(bytes, 0, (size_t)(width / 32 * TURBO3_BYTES));
    vf z[MAX_REGISTERS];
    load_tile(z, x, width);
    rotate_tile(z, width);
    if (reference) {
        turbo3_encode_reference(z, bytes, width);
        return;
    }
    for (int b = 0; b < width / 32; ++b) {
        vf unit[2];
        const normalised block = normalise_tile(z + 2 * b, unit, 32);
        if (block.kind != TILE_CODED) {
            write_uncoded(bytes + b * TURBO3_BYTES, block.kind);
            continue;
        }
        vi codes[2];
        const float fit = search_scale(&TURBO3_TABLE, unit, 32, codes);
        turbo3_write_block(bytes + b * TURBO3_BYTES, block.rms * fit, codes);
    }
}

static void turbo3_encode_tile_128(const float *x, uint8_t *bytes, bool reference) {
    turbo3_encode_tile(x, bytes, reference, 128);
}

static void turbo3_encode_tile_64(const float *x, uint8_t *bytes, bool reference) {
    turbo3_encode_tile(x, bytes, reference, 64);
}

KV_BODY float turbo3_read(const uint8_t *bytes, vf *values) {
    for (int r = 0; r < 2; ++r) {
        const vi low = vi_and(vi_windows(vb_load_exact(bytes + 2 + 4 * r, 4), 2), 3);
        values[r] = vf_lookup8(TURBO3_TABLE.centroids, vi_mask_bit(low, read16(bytes + 10 + 2 * r), 2));
    }
    return half_to_float(read16(bytes));
}

static void turbo3_encode(const float *row, uint8_t *bytes, int64_t n, bool reference) {
    encode_row(row, bytes, n, reference, 128, 4 * TURBO3_BYTES, turbo3_encode_tile_128);
}

static void turbo3_64_encode(const float *row, uint8_t *bytes, int64_t n, bool reference) {
    encode_row(row, bytes, n, reference, 64, 2 * TURBO3_BYTES, turbo3_encode_tile_64);
}

static void turbo3_decode(const uint8_t *bytes, float *row, int64_t n, bool original) {
    decode_row(bytes, row, n, original, 128, 32, TURBO3_BYTES, turbo3_read, unrotate_tile);
}

static void turbo3_64_decode(const uint8_t *bytes, float *row, int64_t n, bool original) {
    decode_row(bytes, row, n, original, 64, 32, TURBO3_BYTES, turbo3_read, unrotate_tile);
}

static float turbo3_dot(const uint8_t *bytes, const void *prepared, int64_t n) {
    return dot_row(bytes, prepared, n, 32, TURBO3_BYTES, turbo3_read);
}

// ---- q4_polar: 128 values behind a plain Hadamard transform, nibbles in order, no residual

KV_BODY void polar_turn(vf *z, int width) { hadamard(z, width); }

static void polar_encode_tile(const float *x, uint8_t *bytes, bool reference) {
    memset(bytes, 0, POLAR_BYTES);
    vf z[MAX_REGISTERS];
    vf unit[MAX_REGISTERS];
    load_tile(z, x, 128);
    hadamard(z, 128);
    scale_tile(z, 128, root_of(128));
    const normalised tile = normalise_tile(z, unit, 128);
    if (tile.kind != TILE_CODED) {
        write_uncoded(bytes, tile.kind);
        return;
    }
    vi codes[MAX_REGISTERS];
    float length;
    if (reference) {
        codes_at(&POLAR_TABLE, unit, 128, 1.0f, codes);
        length = sqrtf(tile.energy);
    } else {
        const float scale = tile.rms * search_scale(&POLAR_TABLE, unit, 128, codes);
        length = scale * 11.313708498984761f;
    }
    eliza_kv_write_word(bytes, eliza_kv_half_from_float(length));
    uint8_t code[128];
    for (int r = 0; r < MAX_REGISTERS; ++r) vi_narrow(code + LANES * r, codes[r]);
    for (int i = 0; i < 16; ++i) {
        const uint32_t packed = pack_4bit(read64(code + 8 * i));
        memcpy(bytes + 2 + 4 * i, &packed, sizeof(packed));
    }
}

KV_BODY float polar_read(const uint8_t *bytes, vf *values) {
    for (int r = 0; r < MAX_REGISTERS; ++r) {
        const vi windows = vi_windows(vb_load_exact(bytes + 2 + 8 * r, 8), 4);
        values[r] = vf_lookup16(POLAR_TABLE.centroids, vi_and(windows, 15));
    }
    return half_to_float(read16(bytes)) * (1.0f / 128.0f);
}

static void polar_encode(const float *row, uint8_t *bytes, int64_t n, bool reference) {
    encode_row(row, bytes, n, reference, 128, POLAR_BYTES, polar_encode_tile);
}

static void polar_decode(const uint8_t *bytes, float *row, int64_t n, bool original) {
    decode_row(bytes, row, n, original, 128, 128, POLAR_BYTES, polar_read, polar_turn);
}

static float polar_dot(const uint8_t *bytes, const void *prepared, int64_t n) {
    return dot_row(bytes, prepared, n, 128, POLAR_BYTES, polar_read);
}

static void polar_prepare(const float *query, void *prepared, int64_t n) {
    float *out = prepared;
    for (int64_t at = 0; at < n; at += 128) {
        vf z[MAX_REGISTERS];
        load_tile(z, query + at, 128);
        hadamard(z, 128);
        store_tile(out + at, z, 128);
    }
}

#endif

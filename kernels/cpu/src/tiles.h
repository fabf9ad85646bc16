// Rows as runs of tiles: the loops that every format shares.
#ifndef ELIZA_KV_TILES_H
#define ELIZA_KV_TILES_H

// Writes the values of a block without its scale; returns the scale.
typedef float (*read_block_fn)(const uint8_t *bytes, vf *values);
typedef void (*encode_tile_fn)(const float *x, uint8_t *bytes, bool reference);
typedef void (*turn_fn)(vf *z, int width);

KV_BODY void encode_row(const float *row, uint8_t *bytes, int64_t n, bool reference, int width, int size,
                        encode_tile_fn encode) {
    for (int64_t tile = 0; tile < n / width; ++tile) encode(row + tile * width, bytes + tile * size, reference);
}

KV_BODY void decode_row(const uint8_t *bytes, float *row, int64_t n, bool original, int width, int block,
                        int block_size, read_block_fn read, turn_fn turn_back) {
    for (int64_t at = 0; at < n; at += width) {
        vf z[MAX_REGISTERS];
        for (int b = 0; b < width / block; ++b) {
            vf *values = z + b * (block / LANES);
            const float scale = read(bytes, values);
            scale_tile(values, block, scale);
            bytes += block_size;
        }
        if (original) turn_back(z, width);
        store_tile(row + at, z, width);
    }
}

KV_BODY float dot_row(const uint8_t *bytes, const float *prepared, int64_t n, int block, int block_size,
                      read_block_fn read) {
    vf sum = vf_zero();
    for (int64_t at = 0; at < n; at += block) {
        vf values[MAX_REGISTERS];
        const float scale = read(bytes, values);
        vf even = vf_mul(values[0], vf_load(prepared + at));
        vf odd = vf_mul(values[1], vf_load(prepared + at + LANES));
        for (int r = 2; r < block / LANES; r += 2) {
            even = vf_fma(values[r], vf_load(prepared + at + LANES * r), even);
            odd = vf_fma(values[r + 1], vf_load(prepared + at + LANES * (r + 1)), odd);
        }
        sum = vf_fma(vf_add(even, odd), vf_set1(scale), sum);
        bytes += block_size;
    }
    return vf_fold(sum);
}

#endif

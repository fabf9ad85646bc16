// Mixed rows: a head in equal runs of falling importance, each in trellis tiles at its own rate.
#ifndef ELIZA_KV_MIXED_H
#define ELIZA_KV_MIXED_H

typedef struct mixed_layout {
    int head;
    int width; // of every tile: a run is one tile at all these head sizes
    int runs;
    uint8_t rates[4];
} mixed_layout;

KV_BODY const trellis_tile *tile_of(const mixed_layout *layout, int run) {
    return &TRELLIS_TILES[layout->rates[run] - 1][layout->width / 64];
}

KV_BODY void mixed_encode(const mixed_layout *layout, const float *row, uint8_t *bytes, int64_t n) {
    branch_table own[4];
    const branch_table *tables[4];
    for (int run = 0; run < layout->runs; ++run) tables[run] = branch_table_of(layout->rates[run], &own[run]);
    int64_t head_bytes = 0;
    for (int run = 0; run < layout->runs; ++run) head_bytes += trellis_bytes(layout->rates[run], layout->width);
    for (int64_t head = 0, heads; head < n / layout->head; head += heads) {
        heads = side_by_side(n / layout->head - head);
        const float *x = row + head * layout->head;
        uint8_t *out = bytes + head * head_bytes;
        for (int run = 0; run < layout->runs; ++run) {
            tile_of(layout, run)->encode((int)heads, x, layout->head, out, head_bytes, tables[run]);
            x += layout->width;
            out += trellis_bytes(layout->rates[run], layout->width);
        }
    }
}

KV_BODY void mixed_decode(const mixed_layout *layout, const uint8_t *bytes, float *row, int64_t n, bool original) {
    for (int64_t head = 0; head < n / layout->head; ++head) {
        for (int run = 0; run < layout->runs; ++run) {
            tile_of(layout, run)->decode(bytes, row, original);
            row += layout->width;
            bytes += trellis_bytes(layout->rates[run], layout->width);
        }
    }
}

KV_BODY float mixed_dot(const mixed_layout *layout, const uint8_t *bytes, const float *prepared, int64_t n) {
    float sum = 0.0f;
    for (int64_t head = 0; head < n / layout->head; ++head) {
        for (int run = 0; run < layout->runs; ++run) {
            sum += tile_of(layout, run)->dot(bytes, prepared);
            prepared += layout->width;
            bytes += trellis_bytes(layout->rates[run], layout->width);
        }
    }
    return sum;
}

#define DEFINE_MIXED(format, head, width, runs, ...)                                                                   \
    static const mixed_layout format##_layout = {head, width, runs, {__VA_ARGS__}};                                    \
    static void format##_encode(const float *row, uint8_t *bytes, int64_t n, bool reference) {                         \
        (void)reference;                                                                                               \
        mixed_encode(&format##_layout, row, bytes, n);                                                                 \
    }                                                                                                                  \
    static void format##_decode(const uint8_t *bytes, float *row, int64_t n, bool original) {                          \
        mixed_decode(&format##_layout, bytes, row, n, original);                                                       \
    }                                                                                                                  \
    static float format##_dot(const uint8_t *bytes, const void *prepared, int64_t n) {                                 \
        return mixed_dot(&format##_layout, bytes, prepared, n);                                                        \
    }
DEFINE_MIXED(turbo4_mix_64, 64, 32, 2, 5, 3)
DEFINE_MIXED(turbo4_mix_128, 128, 32, 4, 6, 4, 3, 3)
DEFINE_MIXED(turbo4_mix_256, 256, 64, 4, 6, 4, 3, 3)
DEFINE_MIXED(turbo4_mix_512, 512, 128, 4, 6, 4, 3, 3)
DEFINE_MIXED(turbo3_mix_64, 64, 32, 2, 4, 2)
DEFINE_MIXED(turbo3_mix_128, 128, 32, 4, 5, 3, 2, 2)
DEFINE_MIXED(turbo3_mix_256, 256, 64, 4, 5, 3, 2, 2)
DEFINE_MIXED(turbo3_mix_512, 512, 128, 4, 5, 3, 2, 2)
DEFINE_MIXED(turbo2_mix_64, 64, 32, 2, 3, 1)
DEFINE_MIXED(turbo2_mix_128, 128, 32, 4, 4, 2, 1, 1)
DEFINE_MIXED(turbo2_mix_256, 256, 64, 4, 4, 2, 1, 1)
DEFINE_MIXED(turbo2_mix_512, 512, 128, 4, 4, 2, 1, 1)

#endif

// Which keys a block of queries sees, some dozens at a time, and what the mask adds to their logits.
#ifndef ELIZA_ATTENTION_TILE_H
#define ELIZA_ATTENTION_TILE_H

enum { HIDDEN = 0xfc00 }; // fp16 -Inf

// The mask rows of a block: of its tokens, and of each of its heads where heads have masks of their own.
typedef struct mask_rows {
    const uint8_t *data; // of the sequence, the first head and the first token; NULL: nothing is hidden
    size_t token;        // bytes
    size_t head;         // bytes
    int64_t tokens;
    int64_t heads; // 1: all heads of the block share a row
    int64_t first_head;
    int64_t all_heads; // of the mask
} mask_rows;

KV_INLINE const uint16_t *mask_row(const mask_rows *mask, int64_t head, int64_t token) {
    const int64_t from = (mask->first_head + head) % mask->all_heads;
    return (const uint16_t *)(mask->data + (size_t)from * mask->head + (size_t)token * mask->token);
}

static mask_rows mask_rows_of(const eliza_attention_mask *mask, int64_t sequence, int64_t first_head, int64_t group,
                              int64_t first_query, int64_t queries) {
    mask_rows rows = {.data = (const uint8_t *)mask->data};
    if (mask->data == NULL) return rows;
    rows.data += (size_t)(sequence % mask->sequences) * mask->sequence + (size_t)first_query * mask->row;
    rows.token = mask->row;
    rows.head = mask->head;
    rows.tokens = queries;
    rows.heads = mask->heads == 1 ? 1 : group;
    rows.first_head = first_head;
    rows.all_heads = mask->heads;
    return rows;
}

// Marks which of `count` (at most 16) keys from `at` on some row shows; true if all rows are plain zeros.
KV_BODY bool look_at_keys(const mask_rows *mask, int64_t at, int count, uint8_t *shown) {
    uint16_t any = 0;
    memset(shown, 0, 16);
    for (int64_t head = 0; head < mask->heads; ++head) {
        for (int64_t token = 0; token < mask->tokens; ++token) {
            const uint16_t *row = mask_row(mask, head, token) + at;
            for (int i = 0; i < count; ++i) {
                any |= row[i];
                shown[i] |= row[i] != HIDDEN;
            }
        }
    }
    return any == 0;
}

typedef struct key_tile {
    int64_t *visible; // [TILE_ROWS], ascending
    int count;
    int padded;     // count, up to a multiple of 16
    bool plain;     // the mask adds nothing
    bool adjoining; // one run of keys
} key_tile;

// The next keys in [*at, end) that some query sees; none are left if count is 0.
static void next_tile(const mask_rows *mask, int64_t *at, int64_t end, key_tile *tile) {
    tile->count = 0;
    tile->plain = true;
    while (*at < end && tile->count + 16 <= TILE_ROWS) {
        const int count = end - *at < 16 ? (int)(end - *at) : 16;
        if (mask->data == NULL) {
            for (int i = 0; i < count; ++i) tile->visible[tile->count++] = *at + i;
        } else {
            uint8_t shown[16];
            const bool zeros = count == 16 ? look_at_keys(mask, *at, 16, shown) : look_at_keys(mask, *at, count, shown);
            const int before = tile->count;
            for (int i = 0; i < count; ++i) {
                tile->visible[tile->count] = *at + i;
                tile->count += shown[i];
            }
            tile->plain &= zeros || tile->count == before;
        }
        *at += count;
    }
    tile->padded = (tile->count + LANES - 1) / LANES * LANES;
    tile->adjoining = tile->count > 0 && tile->visible[tile->count - 1] - tile->visible[0] == tile->count - 1;
}

// Asks for the rows of a tile, or those so many further on. Rows of a head lie far apart, which hardware does not
// foresee; past the end of the data the request has no effect.
KV_INLINE void fetch_rows(const row_reader *reader, const key_tile *tile, int64_t further) {
    for (int i = 0; i < tile->count; ++i) {
        const uintptr_t first = (uintptr_t)reader->data + (size_t)(tile->visible[i] + further) * reader->row;
        for (size_t at = 0; at < reader->bytes; at += 64) __builtin_prefetch((const void *)(first + at));
    }
}

// What a row of the mask adds to the tile's logits; −Inf past its end.
static void read_bias(const uint16_t *row, const key_tile *tile, float *bias) {
    int i = 0;
    if (tile->adjoining) {
        const uint8_t *halves = (const uint8_t *)(row + tile->visible[0]);
        for (; i + LANES <= tile->count; i += LANES) vf_store(bias + i, vf_load_half(halves + 2 * i));
    }
    for (; i < tile->count; ++i) bias[i] = half_to_float(row[tile->visible[i]]);
    for (; i < tile->padded; ++i) bias[i] = -INFINITY;
}

#endif

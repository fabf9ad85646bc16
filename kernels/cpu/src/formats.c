#include <string.h>

#include "eliza_kv.h"

#define FUNCTIONS(format)                                                                                              \
    .encode = eliza_kv_##format##_encode, .encode_reference = eliza_kv_##format##_encode_reference,                    \
    .decode = eliza_kv_##format##_decode, .decode_rotated = eliza_kv_##format##_decode_rotated,                        \
    .rotate_query = eliza_kv_##format##_rotate_query, .dot = eliza_kv_##format##_dot

// A rotation of its own is enough: with the graph's in front of it each of these was slightly worse (docs/cache-types.md).
#define ROTATED(format, id, width, size, query)                                                                        \
    .name = #format, .type = ELIZA_KV_TYPE_##id, .tile = (width), .tile_bytes = (size),                                \
    .query_type = ELIZA_KV_TYPE_QUERY_##query, .graph_rotation = false, .shiftable = true, FUNCTIONS(format)

// The map stands where llama.cpp's rotation would; a rotation behind it would undo its order.
#define MIXED(format, id, head, size, query)                                                                           \
    .name = #format, .type = ELIZA_KV_TYPE_##id, .tile = (head), .tile_bytes = (size),                                 \
    .query_type = ELIZA_KV_TYPE_QUERY_##query, .graph_rotation = false, .shiftable = true, .keys_only = true,          \
    .needs_map = true, FUNCTIONS(format)

// Signs of a random projection are not a code of the row: each encoding of a decoded row drifts further from it.
#define SKETCHED(format, id)                                                                                           \
    .name = #format, .type = ELIZA_KV_TYPE_##id, .tile = 128, .tile_bytes = 34, .graph_rotation = false,               \
    .keys_only = true, FUNCTIONS(format)

static const eliza_kv_format FORMATS[] = {
    {ROTATED(turbo4, TURBO4, 32, 18, 32)},
    {ROTATED(tbq3, TBQ3, 32, 14, 32)},
    {ROTATED(turbo3, TURBO3, 128, 56, 128)},
    {ROTATED(turbo3_64, TURBO3_64, 64, 28, 64)},
    {ROTATED(turbo3_tcq, TURBO3_TCQ, 128, 52, 128)},
    {ROTATED(turbo3_tcq_64, TURBO3_TCQ_64, 64, 26, 64)},
    {ROTATED(turbo4_tcq, TURBO4_TCQ, 128, 66, 128)},
    {ROTATED(turbo4_tcq_64, TURBO4_TCQ_64, 64, 34, 64)},
    {ROTATED(turbo2_tcq, TURBO2_TCQ, 128, 34, 128)},
    {ROTATED(turbo2_tcq_64, TURBO2_TCQ_64, 64, 18, 64)},
    {SKETCHED(qjl1_256, QJL1_256), .query_type = ELIZA_KV_TYPE_QUERY_QJL},
    {SKETCHED(qjl1_256_iid, QJL1_256_IID), .query_type = ELIZA_KV_TYPE_QUERY_QJL_IID},
    // Its own transform is a plain Hadamard too: with the graph's the two would cancel.
    {.name = "q4_polar",
     .type = ELIZA_KV_TYPE_Q4_POLAR,
     .tile = 128,
     .tile_bytes = 82,
     .query_type = ELIZA_KV_TYPE_QUERY_POLAR,
     .graph_rotation = false,
     .shiftable = true,
     FUNCTIONS(q4_polar)},
    {MIXED(turbo4_mix_512, TURBO4_MIX_512, 512, 264, 128)},
    {MIXED(turbo4_mix_256, TURBO4_MIX_256, 256, 136, 64)},
    {MIXED(turbo4_mix_128, TURBO4_MIX_128, 128, 72, 32)},
    {MIXED(turbo4_mix_64, TURBO4_MIX_64, 64, 36, 32)},
    {MIXED(turbo3_mix_512, TURBO3_MIX_512, 512, 200, 128)},
    {MIXED(turbo3_mix_256, TURBO3_MIX_256, 256, 104, 64)},
    {MIXED(turbo3_mix_128, TURBO3_MIX_128, 128, 56, 32)},
    {MIXED(turbo3_mix_64, TURBO3_MIX_64, 64, 28, 32)},
    {MIXED(turbo2_mix_512, TURBO2_MIX_512, 512, 136, 128)},
    {MIXED(turbo2_mix_256, TURBO2_MIX_256, 256, 72, 64)},
    {MIXED(turbo2_mix_128, TURBO2_MIX_128, 128, 40, 32)},
    {MIXED(turbo2_mix_64, TURBO2_MIX_64, 64, 20, 32)},
};

enum { FORMAT_COUNT = sizeof(FORMATS) / sizeof(FORMATS[0]) };

#define NAMED(id) [ELIZA_KV_TYPE_##id - ELIZA_KV_TYPE_FIRST]

// A name for each type id; several types of a name differ by tile.
static const char *const CACHE_NAMES[ELIZA_KV_TYPE_COUNT - ELIZA_KV_TYPE_FIRST] = {
    NAMED(TURBO4) = "turbo4",
    NAMED(TBQ3) = "tbq3",
    NAMED(TURBO3) = "turbo3",
    NAMED(TURBO3_64) = "turbo3",
    NAMED(TURBO3_TCQ) = "turbo3_tcq",
    NAMED(TURBO3_TCQ_64) = "turbo3_tcq",
    NAMED(TURBO4_TCQ) = "turbo4_tcq",
    NAMED(TURBO4_TCQ_64) = "turbo4_tcq",
    NAMED(TURBO2_TCQ) = "turbo2_tcq",
    NAMED(TURBO2_TCQ_64) = "turbo2_tcq",
    NAMED(QJL1_256) = "qjl1_256",
    NAMED(QJL1_256_IID) = "qjl1_256_iid",
    NAMED(Q4_POLAR) = "q4_polar",
    NAMED(TURBO4_MIX_64) = "turbo4_mix",
    NAMED(TURBO4_MIX_128) = "turbo4_mix",
    NAMED(TURBO4_MIX_256) = "turbo4_mix",
    NAMED(TURBO4_MIX_512) = "turbo4_mix",
    NAMED(TURBO3_MIX_64) = "turbo3_mix",
    NAMED(TURBO3_MIX_128) = "turbo3_mix",
    NAMED(TURBO3_MIX_256) = "turbo3_mix",
    NAMED(TURBO3_MIX_512) = "turbo3_mix",
    NAMED(TURBO2_MIX_64) = "turbo2_mix",
    NAMED(TURBO2_MIX_128) = "turbo2_mix",
    NAMED(TURBO2_MIX_256) = "turbo2_mix",
    NAMED(TURBO2_MIX_512) = "turbo2_mix",
};

const eliza_kv_format *eliza_kv_formats(size_t *count) {
    *count = FORMAT_COUNT;
    return FORMATS;
}

const eliza_kv_format *eliza_kv_format_by_type(int32_t type) {
    for (int i = 0; i < FORMAT_COUNT; ++i) {
        if (FORMATS[i].type == type) return &FORMATS[i];
    }
    return NULL;
}

const eliza_kv_format *eliza_kv_format_by_name(const char *name) {
    for (int i = 0; i < FORMAT_COUNT; ++i) {
        if (strcmp(FORMATS[i].name, name) == 0) return &FORMATS[i];
    }
    return NULL;
}

const char *eliza_kv_cache_name(int32_t type) {
    if (type < ELIZA_KV_TYPE_FIRST || type >= ELIZA_KV_TYPE_COUNT) return NULL;
    return CACHE_NAMES[type - ELIZA_KV_TYPE_FIRST];
}

const eliza_kv_format *eliza_kv_format_for_head(const char *cache_name, int32_t head_dim) {
    if (head_dim <= 0) return NULL;
    for (int i = 0; i < FORMAT_COUNT; ++i) {
        const eliza_kv_format *format = &FORMATS[i];
        const bool fits = format->needs_map ? format->tile == head_dim : head_dim % format->tile == 0;
        if (fits && strcmp(eliza_kv_cache_name(format->type), cache_name) == 0) return format;
    }
    return NULL;
}

bool eliza_kv_wants_graph_rotation(int32_t type) {
    const eliza_kv_format *format = eliza_kv_format_by_type(type);
    return format == NULL || format->graph_rotation;
}

#include <string.h>

#include "eliza_kv.h"

#define FUNCTIONS(format)                                                                                              \
    .encode = eliza_kv_##format##_encode, .encode_reference = eliza_kv_##format##_encode_reference,                    \
    .decode = eliza_kv_##format##_decode, .decode_rotated = eliza_kv_##format##_decode_rotated,                        \
    .prepare_query = eliza_kv_##format##_prepare_query, .dot = eliza_kv_##format##_dot

// No kind lets llama.cpp's own rotation go first. ROTATED: with it each was slightly worse (docs/cache-types.md), and
// q4_polar's plain Hadamard would cancel it. MIXED: the map stands in its place, a rotation would undo its order.
// SKETCHED: signs are no code of the row, so each encoding of a decoded row drifts further from it.
#define ROTATED .shiftable = true
#define MIXED .shiftable = true, .keys_only = true, .needs_map = true
#define SKETCHED .keys_only = true

#define ENTRY(format, id, cache_name, width, size, query, kind)                                                        \
    {.name = #format,                                                                                                  \
     .type = ELIZA_KV_TYPE_##id,                                                                                       \
     .tile = (width),                                                                                                  \
     .tile_bytes = (size),                                                                                             \
     .query_type = ELIZA_KV_TYPE_QUERY_##query,                                                                        \
     kind,                                                                                                             \
     FUNCTIONS(format)},

static const eliza_kv_format FORMATS[] = {ELIZA_KV_EACH(ENTRY)};

enum { FORMAT_COUNT = sizeof(FORMATS) / sizeof(FORMATS[0]) };

#define CACHE_NAME(format, id, cache_name, ...) [ELIZA_KV_TYPE_##id - ELIZA_KV_TYPE_FIRST] = #cache_name,

static const char *const CACHE_NAMES[ELIZA_KV_TYPE_COUNT - ELIZA_KV_TYPE_FIRST] = {ELIZA_KV_EACH(CACHE_NAME)};

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

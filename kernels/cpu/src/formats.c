#include <string.h>

#include "eliza_kv.h"

#define FUNCTIONS(format)                                                                                    \
    .encode = eliza_kv_##format##_encode, .encode_reference = eliza_kv_##format##_encode_reference,          \
    .decode = eliza_kv_##format##_decode, .decode_rotated = eliza_kv_##format##_decode_rotated,              \
    .rotate_query = eliza_kv_##format##_rotate_query, .dot = eliza_kv_##format##_dot

static const eliza_kv_format FORMATS[] = {
    {.name = "turbo4", .type = ELIZA_KV_TYPE_TURBO4, .tile = 32, .tile_bytes = 18,
     .query_type = ELIZA_KV_TYPE_QUERY_32, .graph_rotation = true, .shiftable = true, FUNCTIONS(turbo4)},
};

enum { FORMAT_COUNT = sizeof(FORMATS) / sizeof(FORMATS[0]) };

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

bool eliza_kv_wants_graph_rotation(int32_t type) {
    const eliza_kv_format *format = eliza_kv_format_by_type(type);
    return format == NULL || format->graph_rotation;
}

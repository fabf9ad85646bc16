// What this library was made from and how its struct lies, for whoever loads it.
#include <stdio.h>

#include "eliza_kv.h"

// The build gives these; a library without them vouches for nothing.
#ifndef ELIZA_KV_SOURCES
#define ELIZA_KV_SOURCES ""
#endif
#ifndef ELIZA_KV_FLAGS
#define ELIZA_KV_FLAGS ""
#endif

typedef struct field {
    const char *name;
    size_t offset;
} field;

#define FIELD(name)                                                                                                    \
    { #name, offsetof(eliza_kv_format, name) }

static const field FIELDS[] = {
    FIELD(name),
    FIELD(type),
    FIELD(tile),
    FIELD(tile_bytes),
    FIELD(query_type),
    FIELD(graph_rotation),
    FIELD(shiftable),
    FIELD(keys_only),
    FIELD(needs_map),
    FIELD(encode),
    FIELD(encode_reference),
    FIELD(decode),
    FIELD(decode_rotated),
    FIELD(prepare_query),
    FIELD(dot),
};

enum { FIELD_COUNT = sizeof(FIELDS) / sizeof(FIELDS[0]) };

size_t eliza_kv_build(char *text, size_t capacity) {
    size_t length = 0;
#define APPEND(...)                                                                                                    \
    length += (size_t)snprintf(text + (length < capacity ? length : capacity),                                         \
                               length < capacity ? capacity - length : 0, __VA_ARGS__)
    APPEND("{\"sources\":\"%s\",\"flags\":\"%s\",\"compiler\":\"%s\",\"format\":{\"size\":%zu,\"offsets\":{",
           ELIZA_KV_SOURCES, ELIZA_KV_FLAGS, __VERSION__, sizeof(eliza_kv_format));
    for (int i = 0; i < FIELD_COUNT; ++i) {
        APPEND("%s\"%s\":%zu", i > 0 ? "," : "", FIELDS[i].name, FIELDS[i].offset);
    }
    APPEND("}}}");
    return length;
}

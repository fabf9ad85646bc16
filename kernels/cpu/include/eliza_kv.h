// The KV cache formats on the CPU: encode, decode, query preparation and dot, by type.
//
// Rows are float32, n a multiple of the format's tile. Bytes are as docs/formats.md lays them out; every path
// (scalar, AVX2, AVX-512, NEON) writes the same ones. Nothing allocates, nothing keeps state but the chosen path.
#ifndef ELIZA_KV_H
#define ELIZA_KV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eliza_kv_types.h"

#if defined(_WIN32)
#define ELIZA_KV_API __declspec(dllexport)
#else
#define ELIZA_KV_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef void (*eliza_kv_encode_fn)(const float *row, void *bytes, int64_t n);
typedef void (*eliza_kv_decode_fn)(const void *bytes, float *row, int64_t n);
typedef void (*eliza_kv_rotate_fn)(const float *query, void *prepared, int64_t n);
// ggml's shape: *score = sum of n products of one row of bytes and one prepared query; the other arguments are unused.
typedef void (*eliza_kv_dot_fn)(int n, float *score, size_t bs, const void *bytes, size_t bx,
                                const void *prepared, size_t by, int nrc);

typedef struct eliza_kv_format {
    const char *name;
    int32_t type;          // ggml type id
    int32_t tile;          // values a tile
    int32_t tile_bytes;    // bytes a tile
    int32_t query_type;    // ggml type id of the prepared query, float32 values in the rotated basis
    bool graph_rotation;   // llama.cpp's own Hadamard rotation goes first
    bool shiftable;        // survives being decoded and encoded again, as a K shift does to every cell
    bool keys_only;        // cannot be used for V
    eliza_kv_encode_fn encode;            // the best encoder that writes this layout
    eliza_kv_encode_fn encode_reference;  // the documented encoder, which makes the golden fixtures
    eliza_kv_decode_fn decode;            // original basis
    eliza_kv_decode_fn decode_rotated;    // the basis that scores are taken in
    eliza_kv_rotate_fn rotate_query;
    eliza_kv_dot_fn dot;
} eliza_kv_format;

// Every format of this library, in a fixed order.
ELIZA_KV_API const eliza_kv_format *eliza_kv_formats(size_t *count);
// The format with this ggml type id or name, or NULL.
ELIZA_KV_API const eliza_kv_format *eliza_kv_format_by_type(int32_t type);
ELIZA_KV_API const eliza_kv_format *eliza_kv_format_by_name(const char *name);

// True for types that are not ours, so that llama.cpp's own choice stands for them.
ELIZA_KV_API bool eliza_kv_wants_graph_rotation(int32_t type);

// The instruction set in use: "scalar", "avx2". It is the best that the processor has until a test sets another.
ELIZA_KV_API const char *eliza_kv_isa(void);
// False, and nothing changes, if the processor or this build lacks it.
ELIZA_KV_API bool eliza_kv_set_isa(const char *name);

#define ELIZA_KV_DECLARE(format)                                                                             \
    ELIZA_KV_API void eliza_kv_##format##_encode(const float *row, void *bytes, int64_t n);                  \
    ELIZA_KV_API void eliza_kv_##format##_encode_reference(const float *row, void *bytes, int64_t n);        \
    ELIZA_KV_API void eliza_kv_##format##_decode(const void *bytes, float *row, int64_t n);                  \
    ELIZA_KV_API void eliza_kv_##format##_decode_rotated(const void *bytes, float *row, int64_t n);          \
    ELIZA_KV_API void eliza_kv_##format##_rotate_query(const float *query, void *prepared, int64_t n);       \
    ELIZA_KV_API void eliza_kv_##format##_dot(int n, float *score, size_t bs, const void *bytes, size_t bx,  \
                                              const void *prepared, size_t by, int nrc);

ELIZA_KV_DECLARE(turbo4)

#ifdef __cplusplus
}
#endif

#endif

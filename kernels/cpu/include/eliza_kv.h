// The KV cache formats on the CPU: encode, decode, query preparation and dot, by type.
//
// Rows are float32, n a multiple of the format's tile. Bytes are as docs/formats.md lays them out; every path
// (scalar, AVX2, AVX-512, NEON) writes the same ones. Nothing allocates; what is kept is the chosen path and tables made
// once. Every function may be called by several threads at a time.
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
typedef void (*eliza_kv_prepare_fn)(const float *query, void *prepared, int64_t n);
// ggml's shape: *score = sum of n products of one row of bytes and one prepared query; the other arguments are unused.
typedef void (*eliza_kv_dot_fn)(int n, float *score, size_t bs, const void *bytes, size_t bx, const void *prepared,
                                size_t by, int nrc);

typedef struct eliza_kv_format {
    const char *name;          // unique: the cache name, and the tile behind it where a name has several
    int32_t type;              // ggml type id
    int32_t tile;              // values a tile
    int32_t tile_bytes;        // bytes a tile
    int32_t query_type;        // ggml type id of the prepared query: tile float32 values; 256 fp16 values for qjl1_256
    bool graph_rotation;       // llama.cpp's own Hadamard rotation goes first
    bool shiftable;            // survives being decoded and encoded again, as a K shift does to every cell
    bool keys_only;            // cannot be used for V
    bool needs_map;            // of use only behind a map that sorts the dimensions; its tile must be the whole head
    eliza_kv_encode_fn encode; // the best encoder that writes this layout
    eliza_kv_encode_fn encode_reference; // the documented encoder, which makes the golden fixtures
    eliza_kv_decode_fn decode;           // original basis, n values
    eliza_kv_decode_fn decode_rotated;   // the basis that scores are taken in, n values (2n for qjl1_256)
    eliza_kv_prepare_fn prepare_query;
    eliza_kv_dot_fn dot;
} eliza_kv_format;

// Every format of this library, in a fixed order; those of one cache name stand together, the widest tile first.
ELIZA_KV_API const eliza_kv_format *eliza_kv_formats(size_t *count);
// The format with this ggml type id, or with this unique name; NULL if there is none.
ELIZA_KV_API const eliza_kv_format *eliza_kv_format_by_type(int32_t type);
ELIZA_KV_API const eliza_kv_format *eliza_kv_format_by_name(const char *name);
// The name that a user chooses, the same for every tile of a format ("turbo3" for 128 and 64); NULL for other types.
ELIZA_KV_API const char *eliza_kv_cache_name(int32_t type);
// The format of a cache name for heads of that size: the widest tile that fits, or NULL.
ELIZA_KV_API const eliza_kv_format *eliza_kv_format_for_head(const char *cache_name, int32_t head_dim);

// What the library was made from, as JSON: the hash of its sources ("sources", empty where its build gave none), the
// flags of every source, the compiler, and size and offsets of eliza_kv_format as they were compiled ("format").
// Writes at most `capacity` bytes with a zero at the end; returns the length that the whole has.
ELIZA_KV_API size_t eliza_kv_build(char *text, size_t capacity);

// True for types that are not ours, so that llama.cpp's own choice stands for them.
ELIZA_KV_API bool eliza_kv_wants_graph_rotation(int32_t type);

// The instruction set in use, the best that the processor has until a test sets another:
//   "scalar"  portable C
//   "avx2"    AVX2, FMA, F16C, BMI2
//   "avx512"  AVX-512 F, BW, DQ, VL, VBMI, VNNI, and those of avx2
//   "neon"    AArch64's base set
ELIZA_KV_API const char *eliza_kv_isa(void);
// False, and nothing changes, if the processor or this build lacks it.
ELIZA_KV_API bool eliza_kv_set_isa(const char *name);

// A sketch of 256 float32 values a tile, as docs/formats.md has it, to what qjl1_256's dot reads (n counts key values).
ELIZA_KV_API void eliza_kv_qjl1_256_pack_query(const float *sketch, void *prepared, int64_t n);

#define ELIZA_KV_DECLARE(format, ...)                                                                                  \
    ELIZA_KV_API void eliza_kv_##format##_encode(const float *row, void *bytes, int64_t n);                            \
    ELIZA_KV_API void eliza_kv_##format##_encode_reference(const float *row, void *bytes, int64_t n);                  \
    ELIZA_KV_API void eliza_kv_##format##_decode(const void *bytes, float *row, int64_t n);                            \
    ELIZA_KV_API void eliza_kv_##format##_decode_rotated(const void *bytes, float *row, int64_t n);                    \
    ELIZA_KV_API void eliza_kv_##format##_prepare_query(const float *query, void *prepared, int64_t n);                \
    ELIZA_KV_API void eliza_kv_##format##_dot(int n, float *score, size_t bs, const void *bytes, size_t bx,            \
                                              const void *prepared, size_t by, int nrc);

ELIZA_KV_EACH(ELIZA_KV_DECLARE)

#ifdef __cplusplus
}
#endif

#endif

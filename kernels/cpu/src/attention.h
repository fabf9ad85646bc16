// What the instruction sets' attention bodies share: how the work is cut, and where a thread keeps what.
#ifndef ELIZA_ATTENTION_INTERNAL_H
#define ELIZA_ATTENTION_INTERNAL_H

#include "eliza_attention.h"

// ggml's ids of the types that are not ours.
enum ggml_ids {
    TYPE_F32 = 0,
    TYPE_F16 = 1,
    TYPE_Q4_0 = 2,
    TYPE_Q4_1 = 3,
    TYPE_Q5_0 = 6,
    TYPE_Q5_1 = 7,
    TYPE_Q8_0 = 8,
    TYPE_IQ4_NL = 20,
    TYPE_BF16 = 30,
};

enum { TILE_ROWS = 64 }; // keys that are scored at a time

// Work is cut by shapes alone, never by threads, so that sums have one order. A block is the queries of some tokens
// and of all heads that share a KV head; an item is a block against a part of the keys.
typedef struct attention_plan {
    int64_t group;     // query heads of a KV head
    int64_t queries;   // tokens of a block
    int64_t blocks;    // of each sequence and KV head
    int64_t rows;      // group · queries
    int64_t chunks;    // parts of the coded keys
    int64_t chunk;     // keys of a chunk
    int64_t parts;     // 1, or the chunks and one more for the exact keys
    int64_t items;     // sequences · KV heads · blocks · parts
    int64_t coded_dim; // values of a prepared query
    size_t thread_bytes;
} attention_plan;

// Where a thread works; everything starts at a multiple of 64 bytes.
typedef struct attention_work {
    float *queries;   // [rows][coded_dim], prepared for K's type and scaled
    float *out;       // [rows][head_dim_v]
    float *weights;   // [rows][TILE_ROWS]: logits, then their exponentials
    float *bias;      // [rows][TILE_ROWS]: the mask
    float *keys;      // [coded_dim][TILE_ROWS], or a tile of rows
    float *values;    // [TILE_ROWS][head_dim_v]
    float *rows;      // [16][coded_dim]
    float *largest;   // [rows]
    float *sum;       // [rows]
    float *slope;     // [rows]
    int64_t *visible; // [TILE_ROWS]
    uint8_t *end;
} attention_work;

attention_plan eliza_attention_plan(const eliza_attention *attention);
attention_work eliza_attention_place(const eliza_attention *attention, const attention_plan *plan, uint8_t *base);

// How the values of a prepared query, and of decoded rows, lie to the original ones.
enum attention_basis { BASIS_ORIGINAL, BASIS_32, BASIS_64, BASIS_128, BASIS_POLAR, BASIS_SKETCH };
enum attention_basis eliza_attention_basis(int32_t type);

// Bytes of n values.
size_t eliza_attention_row_bytes(int32_t type, int64_t n);

// partials: [items][rows][head_dim_v + 2], unused with one part; work: thread_bytes for each thread.
typedef void attention_fn(const eliza_attention *attention, const attention_plan *plan, uint8_t *partials,
                          uint8_t *work, const eliza_attention_threads *threads);

attention_fn attention_scalar;
#if defined(__x86_64__) || defined(_M_X64)
attention_fn attention_avx2;
attention_fn attention_avx512;
#elif defined(__aarch64__)
attention_fn attention_neon;
#endif

#endif

// Attention over caches of any type on the CPU: softmax(scale · q·kᵀ + mask) · v for every query and head.
//
// Types are ggml's ids: F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, IQ4_NL and the formats of eliza_kv.h. A row of K
// or V is read once for all query heads that share it. Nothing allocates: the caller gives a work buffer.
#ifndef ELIZA_ATTENTION_H
#define ELIZA_ATTENTION_H

#include "eliza_kv.h"

#ifdef __cplusplus
extern "C" {
#endif

// Rows of one head and token each; the distances are in bytes.
typedef struct eliza_attention_rows {
    const void *data;
    int32_t type;
    size_t row;      // from a token to the next
    size_t head;     // from a KV head to the next
    size_t sequence; // from a sequence to the next
} eliza_attention_rows;

// fp16 values that are added to the logits, [sequences][heads][n_q][n]; -Inf hides a key. data NULL: nothing is hidden.
typedef struct eliza_attention_mask {
    const uint16_t *data;
    size_t row;        // bytes from a query's values to the next query's
    size_t head;       // bytes
    size_t sequence;   // bytes
    int64_t heads;     // query head h reads mask head h % heads
    int64_t sequences; // likewise
} eliza_attention_mask;

// Keys and values with one mask; a query's softmax goes over all keys of all sources.
typedef struct eliza_attention_source {
    eliza_attention_rows k;
    eliza_attention_rows v;
    eliza_attention_mask mask;
    int64_t n; // rows of each head and sequence
} eliza_attention_source;

typedef struct eliza_attention {
    int64_t head_dim_k; // a multiple of 16 and of K's tile
    int64_t head_dim_v; // a multiple of 16 and of V's tile
    int64_t n_q;        // queries of each head and sequence
    int64_t n_head;     // a multiple of n_head_kv
    int64_t n_head_kv;
    int64_t n_seq;
    eliza_attention_rows q; // float32; `row` from a query to the next, `head` over query heads
    eliza_attention_source coded;
    eliza_attention_source exact; // of any types, none if n is 0: the exact window
    const float *sinks;           // a logit for each query head that has no value, or NULL
    float scale;
    float max_bias;           // ALiBi as ggml has it; 0: none
    float soft_cap;           // logits become soft_cap · tanh(logit / soft_cap) before the mask; 0: none
    eliza_attention_rows out; // float32, data is written; queries that see nothing get zeros
} eliza_attention;

// The threads that compute one attention together. `take` hands out 0, 1, 2, … each number to one thread, after
// `start`, which one thread calls before a barrier.
typedef struct eliza_attention_threads {
    int index;
    int count;
    void *pool;
    void (*barrier)(void *pool);
    void (*start)(void *pool);
    int (*take)(void *pool);
} eliza_attention_threads;

// Whether these types and head sizes can be attended to.
ELIZA_KV_API bool eliza_attention_supports(int32_t k_type, int32_t v_type, int64_t head_dim_k, int64_t head_dim_v);
// Bytes of work that the call below needs with so many threads; depends on shapes and types alone.
ELIZA_KV_API size_t eliza_attention_work_size(const eliza_attention *attention, int threads);
// Called by every thread with the same attention and work. The result does not depend on the number of threads.
ELIZA_KV_API void eliza_attention_compute(const eliza_attention *attention, void *work,
                                          const eliza_attention_threads *threads);
// The same by the calling thread alone; work as for one thread.
ELIZA_KV_API void eliza_attention_compute_alone(const eliza_attention *attention, void *work);

#ifdef __cplusplus
}
#endif

#endif

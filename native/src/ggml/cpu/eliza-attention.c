#include "eliza-attention.h"

#include <string.h>

#include "eliza_attention.h"
#include "ggml-cpu-impl.h"
#include "ggml.h"

enum { Q, K, V, MASK, SINKS, K_EXACT, V_EXACT, MASK_EXACT };

_Static_assert(GGML_MAX_SRC > MASK_EXACT, "the exact window needs three more sources");
_Static_assert(GGML_TYPE_F32 == 0 && GGML_TYPE_F16 == 1 && GGML_TYPE_Q4_0 == 2 && GGML_TYPE_Q4_1 == 3 &&
                   GGML_TYPE_Q5_0 == 6 && GGML_TYPE_Q5_1 == 7 && GGML_TYPE_Q8_0 == 8 && GGML_TYPE_IQ4_NL == 20 &&
                   GGML_TYPE_BF16 == 30,
               "the kernels know ggml's types by these ids");

static bool is_plain(const struct ggml_tensor *t) { return t->type == GGML_TYPE_F16 || t->type == GGML_TYPE_F32; }

static bool is_ours(const struct ggml_tensor *node) {
    struct ggml_tensor *const *src = node->src;
    if (src[K_EXACT] == NULL && is_plain(src[K]) && is_plain(src[V])) return false;
    const bool fits = src[Q]->type == GGML_TYPE_F32 && src[K]->ne[2] == src[V]->ne[2] &&
                      src[K]->ne[3] == src[V]->ne[3] && src[Q]->ne[3] == src[K]->ne[3] &&
                      src[Q]->ne[2] % src[K]->ne[2] == 0 &&
                      eliza_attention_supports(src[K]->type, src[V]->type, src[K]->ne[0], src[V]->ne[0]);
    GGML_ASSERT((fits || src[K_EXACT] == NULL) && "an exact window beside types or shapes that have none");
    return fits;
}

static eliza_attention_rows rows_of(const struct ggml_tensor *t) {
    return (eliza_attention_rows){t->data, (int32_t)t->type, t->nb[1], t->nb[2], t->nb[3]};
}

static eliza_attention_source source_of(const struct ggml_tensor *k, const struct ggml_tensor *v,
                                        const struct ggml_tensor *mask) {
    eliza_attention_source source = {.k = rows_of(k), .v = rows_of(v), .n = k->ne[1]};
    if (mask != NULL) {
        source.mask =
            (eliza_attention_mask){mask->data, mask->nb[1], mask->nb[2], mask->nb[3], mask->ne[2], mask->ne[3]};
    }
    return source;
}

static eliza_attention attention_of(const struct ggml_tensor *node) {
    struct ggml_tensor *const *src = node->src;
    eliza_attention a = {
        .head_dim_k = src[K]->ne[0],
        .head_dim_v = src[V]->ne[0],
        .n_q = src[Q]->ne[1],
        .n_head = src[Q]->ne[2],
        .n_head_kv = src[K]->ne[2],
        .n_seq = src[Q]->ne[3],
        .q = rows_of(src[Q]),
        .coded = source_of(src[K], src[V], src[MASK]),
        .sinks = src[SINKS] == NULL ? NULL : src[SINKS]->data,
        // the node's rows are heads, one token after the other
        .out = {node->data, GGML_TYPE_F32, node->nb[2], node->nb[1], node->nb[3]},
    };
    if (src[K_EXACT] != NULL) a.exact = source_of(src[K_EXACT], src[V_EXACT], src[MASK_EXACT]);
    memcpy(&a.scale, (const float *)node->op_params + 0, sizeof(float));
    memcpy(&a.max_bias, (const float *)node->op_params + 1, sizeof(float));
    memcpy(&a.soft_cap, (const float *)node->op_params + 2, sizeof(float));
    return a;
}

static void wait_for_all(void *pool) { ggml_barrier(pool); }
static void start(void *pool) { ggml_threadpool_chunk_set(pool, 0); }
static int take(void *pool) { return ggml_threadpool_chunk_add(pool, 1); }

bool eliza_attention_forward(const struct ggml_compute_params *params, struct ggml_tensor *node) {
    if (params->use_ref || !is_ours(node)) return false;
    const eliza_attention attention = attention_of(node);
    const eliza_attention_threads threads = {params->ith, params->nth, params->threadpool, wait_for_all, start, take};
    eliza_attention_compute(&attention, params->wdata, &threads);
    return true;
}

size_t eliza_attention_forward_work_size(const struct ggml_tensor *node, int threads) {
    if (!is_ours(node)) return 0;
    const eliza_attention attention = attention_of(node);
    return eliza_attention_work_size(&attention, threads);
}

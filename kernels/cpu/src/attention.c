#include "attention.h"

#include "isa.h"

// Enough items for many threads to share evenly, and few enough for partial results to stay small.
enum { MANY_ITEMS = 32, MOST_ITEMS = 256, BLOCK_ROWS = 128, LEAST_CHUNK = 128 };

static attention_fn *const BODIES[ELIZA_KV_ISA_COUNT] = {
    [ELIZA_KV_SCALAR] = attention_scalar,
#if defined(__x86_64__) || defined(_M_X64)
    [ELIZA_KV_AVX2] = attention_avx2,
    [ELIZA_KV_AVX512] = attention_avx512,
#elif defined(__aarch64__)
    [ELIZA_KV_NEON] = attention_neon,
#endif
};

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t parts_of(int64_t whole, int64_t part) { return (whole + part - 1) / part; }
static size_t aligned(size_t bytes) { return (bytes + 63) & ~(size_t)63; }

enum attention_basis eliza_attention_basis(int32_t type) {
    const eliza_kv_format *format = eliza_kv_format_by_type(type);
    if (format == NULL) return BASIS_ORIGINAL;
    switch (format->query_type) {
    case ELIZA_KV_TYPE_QUERY_32:
        return BASIS_32;
    case ELIZA_KV_TYPE_QUERY_64:
        return BASIS_64;
    case ELIZA_KV_TYPE_QUERY_128:
        return BASIS_128;
    case ELIZA_KV_TYPE_QUERY_POLAR:
        return BASIS_POLAR;
    default:
        return BASIS_SKETCH;
    }
}

typedef struct type_block {
    int64_t values; // 0 for types that are not known here
    int64_t bytes;
} type_block;

static type_block block_of(int32_t type) {
    switch (type) {
    case TYPE_F32:
        return (type_block){1, 4};
    case TYPE_F16:
    case TYPE_BF16:
        return (type_block){1, 2};
    case TYPE_Q4_0:
    case TYPE_IQ4_NL:
        return (type_block){32, 18};
    case TYPE_Q4_1:
        return (type_block){32, 20};
    case TYPE_Q5_0:
        return (type_block){32, 22};
    case TYPE_Q5_1:
        return (type_block){32, 24};
    case TYPE_Q8_0:
        return (type_block){32, 34};
    default: {
        const eliza_kv_format *format = eliza_kv_format_by_type(type);
        return format == NULL ? (type_block){0, 0} : (type_block){format->tile, format->tile_bytes};
    }
    }
}

size_t eliza_attention_row_bytes(int32_t type, int64_t n) {
    const type_block block = block_of(type);
    return (size_t)(n / block.values * block.bytes);
}

bool eliza_attention_supports(int32_t k_type, int32_t v_type, int64_t head_dim_k, int64_t head_dim_v) {
    const int64_t k = block_of(k_type).values;
    const int64_t v = block_of(v_type).values;
    if (k == 0 || v == 0 || head_dim_k <= 0 || head_dim_v <= 0) return false;
    const eliza_kv_format *v_format = eliza_kv_format_by_type(v_type);
    if (v_format != NULL && v_format->keys_only) return false;
    return head_dim_k % most(k, 16) == 0 && head_dim_v % most(v, 16) == 0;
}

attention_plan eliza_attention_plan(const eliza_attention *a) {
    attention_plan plan = {.group = a->n_head / a->n_head_kv};
    plan.queries = least(a->n_q, most(1, BLOCK_ROWS / plan.group));
    plan.blocks = parts_of(a->n_q, plan.queries);
    plan.rows = plan.group * plan.queries;
    const int64_t whole = a->n_seq * a->n_head_kv * plan.blocks;
    plan.chunks = 1;
    if (whole < MANY_ITEMS) {
        plan.chunks = most(1, least(parts_of(a->coded.n, LEAST_CHUNK), parts_of(MOST_ITEMS, whole)));
    }
    plan.chunk = parts_of(parts_of(a->coded.n, plan.chunks), TILE_ROWS) * TILE_ROWS;
    plan.parts = plan.chunks == 1 ? 1 : plan.chunks + (a->exact.n > 0);
    plan.items = whole * plan.parts;
    const bool sketched = eliza_attention_basis(a->coded.k.type) == BASIS_SKETCH;
    plan.coded_dim = sketched ? 2 * a->head_dim_k : a->head_dim_k;
    plan.thread_bytes = 0;
    plan.thread_bytes = (size_t)(uintptr_t)eliza_attention_place(a, &plan, NULL).end;
    return plan;
}

static uint8_t *take(uint8_t **at, int64_t count, size_t size) {
    uint8_t *place = *at;
    *at = (uint8_t *)((uintptr_t)place + aligned((size_t)count * size));
    return place;
}

attention_work eliza_attention_place(const eliza_attention *a, const attention_plan *plan, uint8_t *base) {
    attention_work work;
    work.queries = (float *)take(&base, plan->rows * plan->coded_dim, sizeof(float));
    work.out = (float *)take(&base, plan->rows * a->head_dim_v, sizeof(float));
    work.weights = (float *)take(&base, plan->rows * TILE_ROWS, sizeof(float));
    work.bias = (float *)take(&base, plan->rows * TILE_ROWS, sizeof(float));
    work.keys = (float *)take(&base, plan->coded_dim * TILE_ROWS, sizeof(float));
    work.values = (float *)take(&base, a->head_dim_v * TILE_ROWS, sizeof(float));
    work.rows = (float *)take(&base, plan->coded_dim * 16, sizeof(float));
    work.largest = (float *)take(&base, plan->rows, sizeof(float));
    work.sum = (float *)take(&base, plan->rows, sizeof(float));
    work.slope = (float *)take(&base, plan->rows, sizeof(float));
    work.visible = (int64_t *)take(&base, TILE_ROWS, sizeof(int64_t));
    work.end = base;
    return work;
}

// What a part of the keys leaves of a query: its largest logit, the sum of the weights, and the weighted values.
static size_t partial_bytes(const eliza_attention *a, const attention_plan *plan) {
    if (plan->parts == 1) return 0;
    return aligned((size_t)(plan->items * plan->rows * (a->head_dim_v + 2)) * sizeof(float));
}

size_t eliza_attention_work_size(const eliza_attention *attention, int threads) {
    const attention_plan plan = eliza_attention_plan(attention);
    return 64 + partial_bytes(attention, &plan) + (size_t)threads * plan.thread_bytes;
}

void eliza_attention_compute(const eliza_attention *attention, void *work, const eliza_attention_threads *threads) {
    const attention_plan plan = eliza_attention_plan(attention);
    uint8_t *base = (uint8_t *)work + (-(uintptr_t)work & 63);
    if (threads->index == 0) threads->start(threads->pool);
    threads->barrier(threads->pool);
    BODIES[eliza_kv_isa_id()](attention, &plan, base, base + partial_bytes(attention, &plan), threads);
}

static void nobody_waits(void *pool) { (void)pool; }
static void start_at_zero(void *pool) { *(int *)pool = 0; }
static int take_next(void *pool) { return (*(int *)pool)++; }

void eliza_attention_compute_alone(const eliza_attention *attention, void *work) {
    int next = 0;
    const eliza_attention_threads threads = {0, 1, &next, nobody_waits, start_at_zero, take_next};
    eliza_attention_compute(attention, work, &threads);
}

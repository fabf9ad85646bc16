// Attention over random shapes, types, masks and bytes, against the same sums in float64.
//
//   check-attention SEED ROUNDS ISA      prints one JSON line: the rounds, and the largest difference as a share of the
//                                        largest |v| that a query sees
//   check-attention SEED ROUNDS ISA all  a line for each round too
//
// Buffers end where the shapes say, so that a sanitizer sees every step past them.
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eliza_attention.h"

static uint64_t state;

static uint32_t next_word(void) { // splitmix64
    state += 0x9e3779b97f4a7c15u;
    uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ (z >> 31)) >> 16);
}

static int64_t below(int64_t n) { return (int64_t)(next_word() % (uint64_t)n); }

static float gaussian(void) {
    float sum = 0.0f;
    for (int i = 0; i < 6; ++i) sum += (float)(int32_t)next_word() * 0x1p-31f;
    return sum * 0.70710678f;
}

static void *exactly(size_t size) {
    void *block = malloc(size);
    if (block == NULL) exit(2);
    return block;
}

static float half(uint16_t bits) {
    const int exponent = bits >> 10 & 31;
    const int fraction = bits & 1023;
    const float size = exponent == 31  ? (fraction ? NAN : INFINITY)
                       : exponent == 0 ? ldexpf((float)fraction, -24)
                                       : ldexpf((float)(1024 + fraction), exponent - 25);
    return bits >> 15 ? -size : size;
}

static uint16_t to_half(float value) { // magnitudes of 2^-14 to 65504, cut
    int exponent;
    if (value == 0.0f) return 0;
    if (isinf(value)) return value < 0 ? 0xfc00 : 0x7c00;
    const float fraction = frexpf(fabsf(value), &exponent);
    if (exponent < -13) return 0;
    return (uint16_t)((value < 0 ? 0x8000 : 0) | (exponent + 14) << 10 | ((int)(fraction * 2048.0f) & 1023));
}

// ---- ggml's own types, written down a second time

typedef struct stock_type {
    const char *name;
    int32_t type;
    int block;
    int bytes;
} stock_type;

static const stock_type STOCK[] = {{"f32", 0, 1, 4},    {"f16", 1, 1, 2},    {"bf16", 30, 1, 2},
                                   {"q4_0", 2, 32, 18}, {"q4_1", 3, 32, 20}, {"q5_0", 6, 32, 22},
                                   {"q5_1", 7, 32, 24}, {"q8_0", 8, 32, 34}, {"iq4_nl", 20, 32, 18}};
enum { STOCK_COUNT = sizeof(STOCK) / sizeof(STOCK[0]) };

static uint16_t word_at(const uint8_t *bytes) { return (uint16_t)(bytes[0] | bytes[1] << 8); }

static float stock_value(int32_t type, const uint8_t *row, int64_t i) {
    static const int8_t NL[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
    float value;
    uint32_t bits;
    if (type == 0) {
        memcpy(&value, row + 4 * i, 4);
        return value;
    }
    if (type == 1) return half(word_at(row + 2 * i));
    if (type == 30) {
        bits = (uint32_t)word_at(row + 2 * i) << 16;
        memcpy(&value, &bits, 4);
        return value;
    }
    const int j = (int)(i % 32);
    const int sizes[21] = {[2] = 18, [3] = 20, [6] = 22, [7] = 24, [8] = 34, [20] = 18};
    const uint8_t *block = row + i / 32 * sizes[type];
    const float scale = half(word_at(block));
    if (type == 8) return scale * (float)(int8_t)block[2 + j];
    const int header = type == 2 || type == 20 ? 2 : type == 3 ? 4 : type == 6 ? 6 : 8;
    const int nibble = j < 16 ? block[header + j] & 15 : block[header + j - 16] >> 4;
    const int fifth = header < 6 ? 0 : (block[header - 4 + j / 8] >> j % 8 & 1) << 4;
    if (type == 20) return scale * (float)NL[nibble];
    if (type == 2) return scale * (float)(nibble - 8);
    if (type == 6) return scale * (float)((nibble | fifth) - 16);
    return scale * (float)(nibble | fifth) + half(word_at(block + 2));
}

static void fill_stock(const stock_type *type, uint8_t *bytes, int64_t n) {
    for (int64_t at = 0; at < n / type->block; ++at, bytes += type->bytes) {
        for (int i = 0; i < type->bytes; ++i) bytes[i] = (uint8_t)next_word();
        const float value = gaussian();
        uint32_t bits;
        memcpy(&bits, &value, 4);
        uint16_t word = type->type == 1 ? to_half(value) : (uint16_t)(bits >> 16);
        if (type->type == 0) memcpy(bytes, &value, 4);
        if (type->block == 32) word = to_half(0.02f + 0.01f * gaussian());
        if (type->type != 0) memcpy(bytes, &word, 2);
        word = to_half(-0.3f);
        if (type->type == 3 || type->type == 7) memcpy(bytes + 2, &word, 2);
    }
}

// ---- rows of K or V, and what they stand for

typedef struct rows {
    eliza_attention_rows at;
    uint8_t *bytes;
    float *values; // [sequences][heads][n][dim]
} rows;

static rows make_rows(int32_t type, int64_t n, int64_t dim, int64_t heads, int64_t sequences) {
    const eliza_kv_format *format = eliza_kv_format_by_type(type);
    const stock_type *stock = NULL;
    for (int i = 0; i < STOCK_COUNT; ++i) stock = STOCK[i].type == type ? &STOCK[i] : stock;
    const int64_t block = format ? format->tile : stock->block;
    const size_t head = (size_t)(dim / block * (format ? format->tile_bytes : stock->bytes));
    const size_t row = head * (size_t)heads;
    rows made = {.at = {.type = type, .row = row, .head = head, .sequence = row * (size_t)n}};
    made.bytes = exactly(row * (size_t)(n * sequences));
    made.values = exactly((size_t)(n * sequences * heads * dim) * sizeof(float));
    made.at.data = made.bytes;
    float *source = exactly((size_t)dim * sizeof(float));
    for (int64_t s = 0; s < sequences; ++s) {
        for (int64_t i = 0; i < n; ++i) {
            for (int64_t h = 0; h < heads; ++h) {
                uint8_t *bytes = made.bytes + (size_t)s * made.at.sequence + (size_t)i * row + (size_t)h * head;
                float *values = made.values + ((s * heads + h) * n + i) * dim;
                if (format) {
                    for (int64_t d = 0; d < dim; ++d) source[d] = gaussian();
                    format->encode_reference(source, bytes, dim);
                    format->decode(bytes, values, dim);
                } else {
                    fill_stock(stock, bytes, dim);
                    for (int64_t d = 0; d < dim; ++d) values[d] = stock_value(type, bytes, d);
                }
            }
        }
    }
    free(source);
    return made;
}

static void free_rows(rows *made) {
    free(made->bytes);
    free(made->values);
}

// kind 0: none; 1: causal; 2: a window; 3: at random; 4: nothing seen; 5: values of all kinds
static uint16_t *make_mask(eliza_attention_mask *mask, int kind, int64_t n, const eliza_attention *a) {
    memset(mask, 0, sizeof(*mask));
    mask->heads = mask->sequences = 1;
    if (kind == 0) return NULL;
    mask->heads = below(4) == 0 ? a->n_head : 1;
    mask->sequences = below(2) ? a->n_seq : 1;
    mask->row = (size_t)n * 2;
    mask->head = mask->row * (size_t)a->n_q;
    mask->sequence = mask->head * (size_t)mask->heads;
    uint16_t *data = exactly(mask->sequence * (size_t)mask->sequences);
    const int64_t window = 1 + below(n);
    for (int64_t i = 0; i < mask->heads * mask->sequences * a->n_q; ++i) {
        const int64_t position = n - a->n_q + i % a->n_q;
        for (int64_t k = 0; k < n; ++k) {
            bool seen = k <= position;
            if (kind == 2) seen = seen && position - k < window;
            if (kind >= 3) seen = below(3) != 0;
            if (kind == 4) seen = false;
            data[i * n + k] = !seen ? 0xfc00 : kind == 5 ? to_half(gaussian()) : 0;
        }
    }
    mask->data = data;
    return data;
}

// ---- the same in float64

static double mask_value(const eliza_attention_mask *mask, int64_t s, int64_t h, int64_t t, int64_t k) {
    if (mask->data == NULL) return 0.0;
    const uint8_t *row = (const uint8_t *)mask->data + (size_t)(s % mask->sequences) * mask->sequence +
                         (size_t)(h % mask->heads) * mask->head + (size_t)t * mask->row;
    return half(word_at(row + 2 * k));
}

static double worst_of(const eliza_attention *a, const rows *k, const rows *v, const rows *k_exact,
                       const rows *v_exact) {
    const int64_t n = a->coded.n + a->exact.n;
    double *logit = exactly((size_t)n * sizeof(double));
    double worst = 0.0;
    for (int64_t i = 0; i < a->n_seq * a->n_head * a->n_q; ++i) {
        const int64_t t = i % a->n_q;
        const int64_t h = i / a->n_q % a->n_head;
        const int64_t s = i / a->n_q / a->n_head;
        const int64_t kv = h / (a->n_head / a->n_head_kv);
        const float *q = (const float *)((const uint8_t *)a->q.data + (size_t)t * a->q.row + (size_t)h * a->q.head +
                                         (size_t)s * a->q.sequence);
        const float *out = (const float *)((const uint8_t *)a->out.data + (size_t)t * a->out.row +
                                           (size_t)h * a->out.head + (size_t)s * a->out.sequence);
        int64_t power = 1;
        while (2 * power <= a->n_head) power *= 2;
        const double slope = a->max_bias == 0.0f ? 1.0
                             : h < power         ? pow(2.0, -a->max_bias / (double)power * (double)(h + 1))
                                         : pow(2.0, -a->max_bias / 2.0 / (double)power * (double)(2 * (h - power) + 1));
        double largest = a->sinks ? a->sinks[h] : -INFINITY;
        for (int64_t j = 0; j < n; ++j) {
            const bool exact = j >= a->coded.n;
            const int64_t at = exact ? j - a->coded.n : j;
            const float *key = (exact ? k_exact : k)->values +
                               ((s * a->n_head_kv + kv) * (exact ? a->exact.n : a->coded.n) + at) * a->head_dim_k;
            double dot = 0.0;
            for (int64_t d = 0; d < a->head_dim_k; ++d) dot += (double)q[d] * key[d];
            dot *= a->scale;
            if (a->soft_cap != 0.0f) dot = a->soft_cap * tanh(dot / a->soft_cap);
            logit[j] = dot + slope * mask_value(exact ? &a->exact.mask : &a->coded.mask, s, h, t, at);
            largest = logit[j] > largest ? logit[j] : largest;
        }
        double sum = a->sinks ? exp(a->sinks[h] - largest) : 0.0;
        double size = 0.0;
        for (int64_t j = 0; j < n; ++j) sum += logit[j] == -INFINITY ? 0.0 : exp(logit[j] - largest);
        double *value = exactly((size_t)a->head_dim_v * sizeof(double));
        for (int64_t d = 0; d < a->head_dim_v; ++d) value[d] = 0.0;
        for (int64_t j = 0; j < n; ++j) {
            if (logit[j] == -INFINITY) continue;
            const bool exact = j >= a->coded.n;
            const int64_t at = exact ? j - a->coded.n : j;
            const float *row = (exact ? v_exact : v)->values +
                               ((s * a->n_head_kv + kv) * (exact ? a->exact.n : a->coded.n) + at) * a->head_dim_v;
            const double weight = exp(logit[j] - largest) / sum;
            for (int64_t d = 0; d < a->head_dim_v; ++d) {
                value[d] += weight * row[d];
                size = fabs(row[d]) > size ? fabs(row[d]) : size;
            }
        }
        for (int64_t d = 0; d < a->head_dim_v; ++d) {
            const double difference = fabs(out[d] - value[d]) / (size > 0.0 ? size : 1.0);
            worst = difference > worst || isnan(difference) ? (isnan(difference) ? INFINITY : difference) : worst;
        }
        free(value);
    }
    free(logit);
    return worst;
}

// ---- threads

typedef struct pool {
    pthread_barrier_t barrier;
    int next;
    const eliza_attention *attention;
    void *work;
    int count;
} pool;

typedef struct worker {
    pool *pool;
    int index;
} worker;

static void wait_for_all(void *p) { pthread_barrier_wait(&((pool *)p)->barrier); }
static void start(void *p) { __atomic_store_n(&((pool *)p)->next, 0, __ATOMIC_RELAXED); }
static int take(void *p) { return __atomic_fetch_add(&((pool *)p)->next, 1, __ATOMIC_RELAXED); }

static void *work_on(void *argument) {
    const worker *self = argument;
    const eliza_attention_threads threads = {self->index, self->pool->count, self->pool, wait_for_all, start, take};
    eliza_attention_compute(self->pool->attention, self->pool->work, &threads);
    return NULL;
}

static void compute(const eliza_attention *a, int count) {
    pool shared = {.attention = a, .count = count, .work = exactly(eliza_attention_work_size(a, count))};
    pthread_barrier_init(&shared.barrier, NULL, (unsigned)count);
    pthread_t thread[4];
    worker workers[4];
    for (int i = 0; i < count; ++i) workers[i] = (worker){&shared, i};
    for (int i = 1; i < count; ++i) pthread_create(&thread[i], NULL, work_on, &workers[i]);
    work_on(&workers[0]);
    for (int i = 1; i < count; ++i) pthread_join(thread[i], NULL);
    pthread_barrier_destroy(&shared.barrier);
    free(shared.work);
}

// ---- a round

static int32_t any_type(bool value, int64_t dim) {
    for (;;) {
        size_t count;
        const eliza_kv_format *formats = eliza_kv_formats(&count);
        const int64_t pick = below((int64_t)count + STOCK_COUNT);
        if (pick >= (int64_t)count) {
            if (dim % STOCK[pick - (int64_t)count].block == 0) return STOCK[pick - (int64_t)count].type;
        } else if (dim % formats[pick].tile == 0 && !(value && formats[pick].keys_only)) {
            return formats[pick].type;
        }
    }
}

static const char *name_of(int32_t type) {
    for (int i = 0; i < STOCK_COUNT; ++i) {
        if (STOCK[i].type == type) return STOCK[i].name;
    }
    return eliza_kv_format_by_type(type)->name;
}

static double round_of(bool print) {
    static const int64_t DIMS[] = {32, 64, 64, 96, 128, 128, 128, 256, 512, 16, 48, 80};
    eliza_attention a = {.scale = 0.1f + 0.01f * (float)below(20)};
    a.head_dim_k = DIMS[below(12)];
    a.head_dim_v = below(4) ? a.head_dim_k : DIMS[below(12)];
    a.n_head_kv = 1 + below(3);
    a.n_head = a.n_head_kv * (1 + below(9));
    a.n_seq = 1 + below(8) / 6;
    a.n_q = below(3) ? 1 + below(3) : 1 + below(70);
    a.coded.n = below(12) ? 1 + below(200) : 1000 + below(3000);
    if (a.coded.n * a.n_head * a.n_q * a.n_seq * (a.head_dim_k + a.head_dim_v) > 20000000) {
        a.n_q = 1;
        a.n_head = a.n_head_kv;
        a.n_seq = 1;
    }
    a.exact.n = below(2) ? 0 : 1 + below(40);
    const int32_t k_type = any_type(false, a.head_dim_k);
    const int32_t v_type = any_type(true, a.head_dim_v);
    rows k = make_rows(k_type, a.coded.n, a.head_dim_k, a.n_head_kv, a.n_seq);
    rows v = make_rows(v_type, a.coded.n, a.head_dim_v, a.n_head_kv, a.n_seq);
    rows k_exact = {0};
    rows v_exact = {0};
    a.coded.k = k.at;
    a.coded.v = v.at;
    if (a.exact.n > 0) {
        k_exact = make_rows(1, a.exact.n, a.head_dim_k, a.n_head_kv, a.n_seq);
        v_exact = make_rows(1, a.exact.n, a.head_dim_v, a.n_head_kv, a.n_seq);
        a.exact.k = k_exact.at;
        a.exact.v = v_exact.at;
    }
    int kind = (int)below(6);
    uint16_t *mask = make_mask(&a.coded.mask, kind, a.coded.n, &a);
    uint16_t *mask_exact = a.exact.n > 0 ? make_mask(&a.exact.mask, (int)below(6), a.exact.n, &a) : NULL;
    if (mask != NULL && below(4) == 0) a.max_bias = 8.0f;
    if (below(4) == 0) a.soft_cap = 5.0f + (float)below(40);
    float *sinks = exactly((size_t)a.n_head * sizeof(float));
    for (int64_t h = 0; h < a.n_head; ++h) sinks[h] = 2.0f * gaussian();
    if (below(4) == 0) a.sinks = sinks;
    const size_t q_values = (size_t)(a.n_seq * a.n_q * a.n_head * a.head_dim_k);
    const size_t out_values = (size_t)(a.n_seq * a.n_q * a.n_head * a.head_dim_v);
    float *q = exactly(q_values * sizeof(float));
    float *out = exactly(out_values * sizeof(float));
    for (size_t i = 0; i < q_values; ++i) q[i] = gaussian();
    for (size_t i = 0; i < out_values; ++i) out[i] = NAN;
    const size_t float_bytes = sizeof(float);
    a.q = (eliza_attention_rows){q, 0, (size_t)a.head_dim_k * float_bytes, (size_t)(a.head_dim_k * a.n_q) * float_bytes,
                                 (size_t)(a.head_dim_k * a.n_q * a.n_head) * float_bytes};
    a.out = (eliza_attention_rows){out, 0, (size_t)(a.head_dim_v * a.n_head) * float_bytes,
                                   (size_t)a.head_dim_v * float_bytes,
                                   (size_t)(a.head_dim_v * a.n_head * a.n_q) * float_bytes};
    if (!eliza_attention_supports(k_type, v_type, a.head_dim_k, a.head_dim_v)) exit(3);
    const int threads = 1 + (int)(below(8) / 6);
    compute(&a, threads);
    const double worst = worst_of(&a, &k, &v, &k_exact, &v_exact);
    if (print) {
        printf(
            "{\"k\":\"%s\",\"v\":\"%s\",\"dims\":[%d,%d],\"n_q\":%d,\"heads\":[%d,%d],\"n_seq\":%d,\"n_kv\":%d,"
            "\"n_exact\":%d,\"mask\":%d,\"max_bias\":%g,\"soft_cap\":%g,\"sinks\":%d,\"threads\":%d,\"worst\":%.3g}\n",
            name_of(k_type), name_of(v_type), (int)a.head_dim_k, (int)a.head_dim_v, (int)a.n_q, (int)a.n_head,
            (int)a.n_head_kv, (int)a.n_seq, (int)a.coded.n, (int)a.exact.n, kind, a.max_bias, a.soft_cap,
            a.sinks != NULL, threads, worst);
    }
    free_rows(&k);
    free_rows(&v);
    free_rows(&k_exact);
    free_rows(&v_exact);
    free(mask);
    free(mask_exact);
    free(sinks);
    free(q);
    free(out);
    return worst;
}

int main(int argc, char **argv) {
    if (argc < 4 || !eliza_kv_set_isa(argv[3])) return 1;
    state = strtoull(argv[1], NULL, 10);
    const long rounds = atol(argv[2]);
    double worst = 0.0;
    for (long i = 0; i < rounds; ++i) {
        const double found = round_of(argc > 4);
        worst = found > worst ? found : worst;
    }
    printf("{\"rounds\":%ld,\"worst\":%.3g}\n", rounds, worst);
    return 0;
}

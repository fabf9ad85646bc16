// The attention of one instruction set, in the vector operations that were included before.
//
// A block's queries meet its keys in tiles. The maximum and the sum of weights run along (Milakov and Gimelshein 2018,
// arXiv:1805.02867); where few blocks meet many keys, parts of the keys are worked on apart and merged.
#ifndef ELIZA_ATTENTION_BODY_H
#define ELIZA_ATTENTION_BODY_H

// With fewer rows than this, turning a tile of keys over costs more than it saves.
enum { FEW_ROWS = 16 };

typedef struct attention_block {
    const eliza_attention *a;
    const attention_plan *plan;
    attention_work work;
    int64_t sequence;
    int64_t head; // KV head
    int64_t first_query;
    int64_t queries;
    int64_t rows;
} attention_block;

// Keys of a source as one block meets them.
typedef struct block_source {
    row_reader k;
    row_reader v;
    mask_rows mask;
    int64_t dim; // of a key as it is read
#ifdef KV_CODED_TILES
    row_codes k_codes; // for few queries; kind NONE: K is read as floats
    row_codes v_codes;
    code_work place;
#endif
} block_source;

KV_INLINE const float *query_of(const attention_block *block, int64_t row) {
    const eliza_attention *a = block->a;
    const int64_t head = block->head * block->plan->group + row / block->queries;
    const int64_t token = block->first_query + row % block->queries;
    return (const float *)((const uint8_t *)a->q.data + (size_t)token * a->q.row + (size_t)head * a->q.head +
                           (size_t)block->sequence * a->q.sequence);
}

// Chooses the path for few queries, where the instruction set has one, and prepares its queries.
static void open_codes(const attention_block *block, const eliza_attention_source *source, block_source *open) {
#ifdef KV_CODED_TILES
    const eliza_attention *a = block->a;
    if (block->rows >= FEW_ROWS) return;
    open->k_codes = codes_of(source->k.type, a->head_dim_k);
    open->v_codes = codes_of(source->v.type, a->head_dim_v);
    open->place = place_codes(&block->work, block->rows, a->head_dim_k, a->head_dim_v);
    if (open->k_codes.kind != CODES_BYTES) return;
    for (int64_t row = 0; row < block->rows; ++row) {
        split_query(block->work.queries + row * open->dim, open->dim, open->place.digits + row * DIGITS * open->dim,
                    open->place.offset + row * DIGITS * (open->dim / CODE_BLOCK), open->place.unit + row);
    }
#else
    (void)block, (void)source, (void)open;
#endif
}

static block_source open_source(const attention_block *block, const eliza_attention_source *source) {
    const eliza_attention *a = block->a;
    const int64_t group = block->plan->group;
    block_source open = {
        .k = reader_of(&source->k, a->head_dim_k, block->sequence, block->head),
        .v = reader_of(&source->v, a->head_dim_v, block->sequence, block->head),
        .mask = mask_rows_of(&source->mask, block->sequence, block->head * group, group, block->first_query,
                             block->queries),
        .dim = eliza_attention_basis(source->k.type) == BASIS_SKETCH ? 2 * a->head_dim_k : a->head_dim_k,
    };
    const float scale = a->soft_cap != 0.0f ? a->scale / a->soft_cap : a->scale;
    for (int64_t row = 0; row < block->rows; ++row) {
        prepare_query(source->k.type, query_of(block, row), a->head_dim_k, scale, block->work.queries + row * open.dim);
    }
    open_codes(block, source, &open);
    return open;
}

// weights[row][key] = query · key, padded keys included.
static void score_tile(const attention_block *block, const block_source *source, const key_tile *tile) {
    const attention_work *work = &block->work;
    const int64_t dim = source->dim;
    fetch_rows(&source->k, tile, TILE_ROWS);
    fetch_rows(&source->v, tile, 0);
#ifdef KV_CODED_TILES
    if (source->k_codes.kind != CODES_NONE) {
        score_codes(&source->k_codes, &source->k, &source->place, work, block->rows, dim, tile);
        return;
    }
#endif
    for (int first = 0; first < tile->count; first += 16) {
        for (int i = 0; i < 16; ++i) {
            const int key = first + i < tile->count ? first + i : tile->count - 1;
            read_row(&source->k, tile->visible[key], work->rows + i * dim, block->a->head_dim_k);
        }
        if (block->rows >= FEW_ROWS) {
            turn_rows(work->rows, dim, work->keys + first);
            continue;
        }
        for (int64_t row = 0; row < block->rows; ++row) {
            score_16(work->queries + row * dim, work->rows, dim, work->weights + row * TILE_ROWS + first);
        }
    }
    if (block->rows >= FEW_ROWS) {
        multiply(block->rows, tile->padded, work->queries, dim, work->keys, TILE_ROWS, work->weights, TILE_ROWS, dim,
                 false);
    }
}

// Logits to weights: soft cap, mask, exponentials against the running maximum; what came before is scaled to it.
static void weigh_row(const attention_block *block, const key_tile *tile, const float *bias, int64_t row) {
    const attention_work *work = &block->work;
    float *weights = work->weights + row * TILE_ROWS;
    const float cap = block->a->soft_cap;
    const vf slope = vf_set1(work->slope[row]);
    for (int i = tile->count; i < tile->padded; ++i) weights[i] = -INFINITY;
    vf largest = vf_set1(work->largest[row]);
    for (int i = 0; i < tile->padded; i += LANES) {
        vf logit = vf_load(weights + i);
        if (cap != 0.0f) {
            logit = vf_mul(vf_tanh(logit), vf_set1(cap));
            if (i + LANES > tile->count) {
                vf_store(weights + i, logit);
                for (int j = tile->count; j < tile->padded; ++j) weights[j] = -INFINITY;
                logit = vf_load(weights + i);
            }
        }
        if (bias != NULL) logit = vf_fma(slope, vf_load(bias + i), logit);
        vf_store(weights + i, logit);
        largest = vf_max(logit, largest); // a NaN does not stay here, but in the weights
    }
    const float before = work->largest[row];
    const float now = vf_largest(largest);
    const float base = now == -INFINITY ? 0.0f : now; // nothing seen yet: all weights are 0
    vf sum = vf_zero();
    for (int i = 0; i < tile->padded; i += LANES) {
        const vf weight = vf_exp(vf_sub(vf_load(weights + i), vf_set1(base)));
        vf_store(weights + i, weight);
        sum = vf_add(sum, weight);
    }
    if (now > before) {
        const float factor = expf(before - now);
        work->sum[row] *= factor;
        float *out = work->out + row * block->a->head_dim_v;
        if (before != -INFINITY) {
            for (int64_t d = 0; d < block->a->head_dim_v; d += LANES) {
                vf_store(out + d, vf_mul(vf_load(out + d), vf_set1(factor)));
            }
        }
        work->largest[row] = now;
    }
    work->sum[row] += vf_fold(sum);
}

static void attend(const attention_block *block, const block_source *source, int64_t from, int64_t to) {
    const attention_work *work = &block->work;
    const int64_t dim_v = block->a->head_dim_v;
    key_tile tile = {.visible = work->visible};
    for (int64_t at = from; at < to;) {
        next_tile(&source->mask, &at, to, &tile);
        if (tile.count == 0) break;
        score_tile(block, source, &tile);
        const int64_t masks = source->mask.heads == 1 ? block->queries : block->rows;
        if (!tile.plain) {
            for (int64_t m = 0; m < masks; ++m) {
                read_bias(mask_row(&source->mask, m / block->queries, m % block->queries), &tile,
                          work->bias + m * TILE_ROWS);
            }
        }
        for (int64_t row = 0; row < block->rows; ++row) {
            weigh_row(block, &tile, tile.plain ? NULL : work->bias + row % masks * TILE_ROWS, row);
        }
#ifdef KV_CODED_TILES
        if (source->v_codes.kind != CODES_NONE) {
            add_codes(&source->v_codes, &source->v, &source->place, work, block->rows, dim_v, &tile);
            continue;
        }
#endif
        for (int i = 0; i < tile.count; ++i) {
            read_row(&source->v, tile.visible[i], work->values + i * dim_v, dim_v);
        }
        multiply(block->rows, dim_v, work->weights, TILE_ROWS, work->values, dim_v, work->out, dim_v, tile.count, true);
    }
}

static void start_block(attention_block *block) {
    const eliza_attention *a = block->a;
    const uint32_t heads = (uint32_t)a->n_head;
    uint32_t power = 1; // the largest power of two within the number of heads
    while (2 * power <= heads) power *= 2;
    const float m0 = powf(2.0f, -a->max_bias / (float)power);
    const float m1 = powf(2.0f, -a->max_bias / 2.0f / (float)power);
    for (int64_t row = 0; row < block->rows; ++row) {
        const uint32_t head = (uint32_t)(block->head * block->plan->group + row / block->queries);
        block->work.largest[row] = -INFINITY;
        block->work.sum[row] = 0.0f;
        block->work.slope[row] = 1.0f;
        if (a->max_bias > 0.0f) {
            block->work.slope[row] =
                head < power ? powf(m0, (float)(head + 1)) : powf(m1, (float)(2 * (head - power) + 1));
        }
    }
    memset(block->work.out, 0, (size_t)(block->rows * a->head_dim_v) * sizeof(float));
}

// Divides by the sum of weights, the head's sink included, and writes one row.
static void finish_row(const attention_block *block, int64_t row, float largest, float sum, const float *values) {
    const eliza_attention *a = block->a;
    const int64_t head = block->head * block->plan->group + row / block->queries;
    const int64_t token = block->first_query + row % block->queries;
    float factor = 1.0f;
    if (a->sinks != NULL) {
        const float sink = a->sinks[head];
        if (sink > largest) {
            factor = expf(largest - sink);
            sum = sum * factor + 1.0f;
        } else {
            sum += expf(sink - largest);
        }
    }
    factor = sum == 0.0f ? 0.0f : factor / sum;
    float *out = (float *)((uint8_t *)(uintptr_t)a->out.data + (size_t)token * a->out.row + (size_t)head * a->out.head +
                           (size_t)block->sequence * a->out.sequence);
    for (int64_t d = 0; d < a->head_dim_v; d += LANES) {
        vf_store(out + d, vf_mul(vf_load(values + d), vf_set1(factor)));
    }
}

static attention_block block_at(const eliza_attention *a, const attention_plan *plan, uint8_t *work, int64_t index) {
    attention_block block = {.a = a, .plan = plan, .work = eliza_attention_place(a, plan, work)};
    block.first_query = index % plan->blocks * plan->queries;
    block.head = index / plan->blocks % a->n_head_kv;
    block.sequence = index / plan->blocks / a->n_head_kv;
    const int64_t left = a->n_q - block.first_query;
    block.queries = left < plan->queries ? left : plan->queries;
    block.rows = plan->group * block.queries;
    return block;
}

// A block against all keys.
static void whole_item(attention_block *block) {
    const eliza_attention *a = block->a;
    const attention_work *work = &block->work;
    start_block(block);
    block_source source = open_source(block, &a->coded);
    attend(block, &source, 0, a->coded.n);
    for (int64_t row = 0; row < block->rows; ++row) {
        turn_back(eliza_attention_basis(a->coded.v.type), work->out + row * a->head_dim_v, a->head_dim_v);
    }
    if (a->exact.n > 0) {
        source = open_source(block, &a->exact);
        attend(block, &source, 0, a->exact.n);
    }
    for (int64_t row = 0; row < block->rows; ++row) {
        finish_row(block, row, work->largest[row], work->sum[row], work->out + row * a->head_dim_v);
    }
}

// A block against one part of the keys; what comes of it waits for merge_row.
static void part_item(attention_block *block, int64_t part, float *partials) {
    const eliza_attention *a = block->a;
    const attention_plan *plan = block->plan;
    const attention_work *work = &block->work;
    start_block(block);
    const bool exact = part == plan->chunks;
    const block_source source = open_source(block, exact ? &a->exact : &a->coded);
    const int64_t end = (part + 1) * plan->chunk < a->coded.n ? (part + 1) * plan->chunk : a->coded.n;
    attend(block, &source, exact ? 0 : part * plan->chunk, exact ? a->exact.n : end);
    for (int64_t row = 0; row < block->rows; ++row, partials += a->head_dim_v + 2) {
        partials[0] = work->largest[row];
        partials[1] = work->sum[row];
        memcpy(partials + 2, work->out + row * a->head_dim_v, (size_t)a->head_dim_v * sizeof(float));
    }
}

// Adds a part's values, weighed against the common maximum.
static void add_part(const float *part, float largest, float *sum, float *values, int64_t n) {
    const float factor = part[0] == -INFINITY && largest != -INFINITY ? 0.0f
                         : part[0] == largest                         ? 1.0f
                                                                      : expf(part[0] - largest);
    *sum += factor * part[1];
    for (int64_t d = 0; d < n; d += LANES) {
        vf_store(values + d, vf_fma(vf_set1(factor), vf_load(part + 2 + d), vf_load(values + d)));
    }
}

// Row `row` of a block from its parts, which lie `apart` floats from each other.
static void merge_row(const attention_block *block, int64_t row, const float *parts, int64_t apart) {
    const eliza_attention *a = block->a;
    const attention_plan *plan = block->plan;
    const int64_t n = a->head_dim_v;
    float *values = block->work.out;
    float largest = -INFINITY;
    float sum = 0.0f;
    for (int64_t p = 0; p < plan->parts; ++p) largest = parts[p * apart] > largest ? parts[p * apart] : largest;
    memset(values, 0, (size_t)n * sizeof(float));
    for (int64_t p = 0; p < plan->chunks; ++p) add_part(parts + p * apart, largest, &sum, values, n);
    turn_back(eliza_attention_basis(a->coded.v.type), values, n);
    if (plan->parts > plan->chunks) add_part(parts + plan->chunks * apart, largest, &sum, values, n);
    finish_row(block, row, largest, sum, values);
}

static void attention_run(const eliza_attention *a, const attention_plan *plan, uint8_t *partials, uint8_t *work,
                          const eliza_attention_threads *threads) {
    work += (size_t)threads->index * plan->thread_bytes;
    float *parts = (float *)partials;
    const int64_t apart = plan->rows * (a->head_dim_v + 2);
    const int64_t blocks = plan->items / plan->parts;
    for (int64_t item; (item = threads->take(threads->pool)) < plan->items;) {
        // one after the other the heads of the same keys, which lie side by side
        const int64_t index = item % blocks;
        const int64_t part = item / blocks;
        attention_block block = block_at(a, plan, work, index);
        if (plan->parts == 1) {
            whole_item(&block);
        } else {
            part_item(&block, part, parts + (index * plan->parts + part) * apart);
        }
    }
    if (plan->parts == 1) return;
    threads->barrier(threads->pool);
    const int64_t all = blocks * plan->rows;
    for (int64_t i = threads->index; i < all; i += threads->count) {
        attention_block block = block_at(a, plan, work, i / plan->rows);
        const int64_t row = i % plan->rows;
        if (row >= block.rows) continue;
        merge_row(&block, row, parts + i / plan->rows * plan->parts * apart + row * (a->head_dim_v + 2), apart);
    }
}

#endif

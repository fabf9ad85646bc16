// Viterbi's algorithm over the bit-shift trellis in vectors of integers.
//
// State s = (j << k) | p is a predecessor of the group j of the next sample, and itself comes from group
// s mod 2^(9−k). So the 2^k costs that a group chooses from lie next to each other, and vectors run over groups:
// for each p one vector of survivors, repeated with period Q = 2^(9−2k), plus the branch metric of (j, p).
// Costs carry their predecessor, cost · 2^k + p, so one minimum finds both and ties go to the lowest p.
//
// A lanes_<isa>.h gives:
//   iv, IV_LANES                     int32 lanes
//   IV_BLOCK, IV_TILES               accumulators of a block of groups, and tiles that are coded side by side
//   iv_load iv_store iv_set1 iv_min iv_add iv_and
//   iv_even iv_odd iv_low iv_high    unzip and zip of two vectors
//   iv_repeat(from, count)           count (1, 2 or 8) int32 values, repeated to fill a vector
//   branch_entries, set_branch(entries, i, value, k), iv_sample, make_sample(x, k)
//   iv_branch(survivors, entries, i, sample): + (2·value² − x·value) · 2^k of entries i to i + IV_LANES − 1
//   IV_TRANSPOSE8, iv_transpose8     if it has a quicker way to turn 64 values from rows of eight to columns
//   store_choices(out, vectors, count, mask): the masked lanes as bytes
#ifndef ELIZA_KV_VITERBI_VECTOR_H
#define ELIZA_KV_VITERBI_VECTOR_H

enum { MAX_GROUPS = TRELLIS_STATES / 2 };

typedef struct branch_table {
    branch_entries entries;
    // p of each survivor in the order in which they are read, for k of 3 and more
    _Alignas(64) int32_t low[64];
} branch_table;

// Accumulators that a block of groups takes; with few groups, partial minima over p share the work.
KV_BODY int vectors_of(int k) { return (TRELLIS_STATES >> k) >= IV_LANES ? (TRELLIS_STATES >> k) / IV_LANES : 1; }
KV_BODY int block_of(int k) { return vectors_of(k) < IV_BLOCK ? vectors_of(k) : IV_BLOCK; }
// How many predecessors share a vector because the groups do not fill it.
KV_BODY int shared_of(int k) { return (TRELLIS_STATES >> k) >= IV_LANES ? 1 : IV_LANES / (TRELLIS_STATES >> k); }
KV_BODY int period_of(int k) { return k < 5 ? TRELLIS_STATES >> (2 * k) : 1; }

KV_BODY void fill_branch_table(branch_table *table, int k) {
    const int block = block_of(k);
    const int shared = shared_of(k);
    const int8_t *values = trellis_values[k - 1];
    int at = 0;
    for (int first = 0; first < vectors_of(k); first += block) {
        for (int p = 0; p < 1 << k; p += shared) {
            for (int i = 0; i < block * IV_LANES; ++i) {
                const int group = (first * IV_LANES + i) / shared;
                set_branch(&table->entries, at++, values[(group << k) | (p + i % shared)], k);
            }
        }
    }
    for (int i = 0; i < 64; ++i) table->low[i] = i / period_of(k);
}

static void make_branch_table(branch_table *table, int k) {
    switch (k) {
    case 1:
        fill_branch_table(table, 1);
        break;
    case 2:
        fill_branch_table(table, 2);
        break;
    case 3:
        fill_branch_table(table, 3);
        break;
    case 4:
        fill_branch_table(table, 4);
        break;
    case 5:
        fill_branch_table(table, 5);
        break;
    default:
        fill_branch_table(table, 6);
        break;
    }
}

// The table of a rate, made by whoever comes first. A thread that comes while it is being made takes its own.
static const branch_table *branch_table_of(int k, branch_table *own) {
    enum { EMPTY, BEING_MADE, READY };
    static branch_table tables[TRELLIS_RATES];
    static int states[TRELLIS_RATES];
    int state = __atomic_load_n(&states[k - 1], __ATOMIC_ACQUIRE);
    if (state == EMPTY &&
        __atomic_compare_exchange_n(&states[k - 1], &state, BEING_MADE, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
        make_branch_table(&tables[k - 1], k);
        __atomic_store_n(&states[k - 1], READY, __ATOMIC_RELEASE);
        state = READY;
    }
    if (state == READY) return &tables[k - 1];
    make_branch_table(own, k);
    return own;
}

// Survivors from group order to the order in which the next sample reads them: index j = q·2^k + p goes to p·Q + q.
KV_BODY void arrange(int k, iv *w) {
    const int count = vectors_of(k);
    iv turned[MAX_GROUPS / IV_LANES];
    if (k == 4) { // five bits turned right by four are turned left by one
        for (int i = 0; i < count / 2; ++i) {
            turned[2 * i] = iv_low(w[i], w[count / 2 + i]);
            turned[2 * i + 1] = iv_high(w[i], w[count / 2 + i]);
        }
        for (int i = 0; i < count; ++i) w[i] = turned[i];
        return;
    }
#ifdef IV_TRANSPOSE8
    if (k == 3) {
        iv_transpose8(w);
        return;
    }
#endif
    KV_UNROLL
    for (int round = 0; round < k; ++round) {
        KV_UNROLL
        for (int i = 0; i < count / 2; ++i) {
            turned[i] = iv_even(w[2 * i], w[2 * i + 1]);
            turned[count / 2 + i] = iv_odd(w[2 * i], w[2 * i + 1]);
        }
        KV_UNROLL
        for (int i = 0; i < count; ++i) w[i] = turned[i];
    }
}

KV_BODY void store_survivors(int k, iv *w, const branch_table *table, int32_t *survivors) {
    const int count = vectors_of(k);
    const int period = period_of(k);
    KV_UNROLL
    for (int v = 0; v < count; ++v) w[v] = iv_and(w[v], iv_set1(-(1 << k)));
    if (k < 5) arrange(k, w);
    if (k < 3) {
        KV_UNROLL
        for (int v = 0; v < count; ++v) {
            iv_store(survivors + v * IV_LANES, iv_add(w[v], iv_set1(v * IV_LANES / period)));
        }
    } else {
        const int places = k < 5 ? count : (1 << k) / IV_LANES;
        KV_UNROLL
        for (int v = 0; v < places; ++v) {
            iv_store(survivors + v * IV_LANES, iv_add(w[v % count], iv_load(table->low + v * IV_LANES)));
        }
    }
}

KV_BODY iv survivors_of(int k, const int32_t *survivors, int p, int vector) {
    const int period = period_of(k);
    if (period >= IV_LANES) return iv_load(survivors + p * period + (vector * IV_LANES & (period - 1)));
    return iv_repeat(survivors + p * period, period * shared_of(k));
}

// Fills one row of choices a sample, and for each group of 2^k final states its packed minimum.
KV_BODY void viterbi_run(int k, int tiles, const tile_samples *samples, int steps, const branch_table *table,
                         const int *anchors, path_memory *memory) {
    const int groups = TRELLIS_STATES >> k;
    const int predecessors = 1 << k;
    const int count = vectors_of(k);
    const int block = block_of(k);
    const int shared = shared_of(k);
    // independent minima where the block alone would be one long chain
    const int chains = tiles * block >= 4 ? 1 : 4 / (tiles * block);
    _Alignas(64) int32_t survivors[IV_TILES][MAX_GROUPS];
    for (int tile = 0; tile < tiles; ++tile) {
        for (int i = 0; i < (groups > predecessors ? groups : predecessors); ++i) {
            const int p = i / period_of(k);
            const int j = k < 5 ? (i % period_of(k)) << k | p : i & (groups - 1);
            survivors[tile][i] = (anchors[tile] < 0 || j == anchors[tile] ? 0 : FORBIDDEN_COST << k) + p;
        }
    }
    for (int t = 0; t < steps; ++t) {
        iv_sample sample[IV_TILES];
        iv w[IV_TILES][MAX_GROUPS / IV_LANES];
        int at = 0;
        KV_UNROLL
        for (int tile = 0; tile < tiles; ++tile) sample[tile] = make_sample(samples[tile].x[t], k);
        KV_UNROLL
        for (int first = 0; first < count; first += block) {
            iv best[IV_TILES][4 * IV_BLOCK];
            KV_UNROLL
            for (int p = 0; p < predecessors; p += shared) {
                const int chain = p / shared % chains;
                KV_UNROLL
                for (int v = 0; v < block; ++v) {
                    KV_UNROLL
                    for (int tile = 0; tile < tiles; ++tile) {
                        const iv from = survivors_of(k, survivors[tile], p, first + v);
                        const iv cost = iv_branch(from, &table->entries, at, sample[tile]);
                        iv *kept = &best[tile][chain * block + v];
                        *kept = p / shared < chains ? cost : iv_min(*kept, cost);
                    }
                    at += IV_LANES;
                }
            }
            KV_UNROLL
            for (int tile = 0; tile < tiles; ++tile) {
                KV_UNROLL
                for (int v = 0; v < block; ++v) {
                    iv least = best[tile][v];
                    KV_UNROLL
                    for (int chain = 1; chain < chains; ++chain) least = iv_min(least, best[tile][chain * block + v]);
                    w[tile][first + v] = least;
                }
            }
        }
        KV_UNROLL
        for (int tile = 0; tile < tiles; ++tile) {
            if (shared == 2) w[tile][0] = iv_min(iv_even(w[tile][0], w[tile][0]), iv_odd(w[tile][0], w[tile][0]));
            store_choices(memory[tile].choices + t * groups, w[tile], count, predecessors - 1);
            if (t == steps - 1) {
                for (int v = 0; v < count; ++v) iv_store(memory[tile].last + v * IV_LANES, w[tile][v]);
            }
            store_survivors(k, w[tile], table, survivors[tile]);
        }
    }
}

#endif

// Viterbi's algorithm over the bit-shift trellis in plain C.
//
// Costs carry their predecessor: cost · 2^k + p, so that one minimum finds both and ties go to the lowest p.
#ifndef ELIZA_KV_VITERBI_SCALAR_H
#define ELIZA_KV_VITERBI_SCALAR_H

enum { IV_TILES = 1 };

typedef struct branch_table {
    const int8_t *values;
} branch_table;

KV_BODY const branch_table *branch_table_of(int k, branch_table *own) {
    own->values = trellis_values[k - 1];
    return own;
}

// Fills one row of choices a sample, and for each group of 2^k final states its packed minimum.
KV_BODY void viterbi_run(int k, int tiles, const tile_samples *samples, int steps, const branch_table *table,
                         const int *anchors, path_memory *memory) {
    (void)tiles; // always one
    const int anchor = anchors[0];
    const int groups = TRELLIS_STATES >> k;
    const int predecessors = 1 << k;
    int32_t survivors[TRELLIS_STATES / 2];
    int32_t cost[TRELLIS_STATES];
    for (int j = 0; j < groups; ++j) survivors[j] = anchor < 0 || j == anchor ? 0 : FORBIDDEN_COST;
    for (int t = 0; t < steps; ++t) {
        const int32_t x = samples[0].x[t];
        for (int s = 0; s < TRELLIS_STATES; ++s) {
            const int32_t value = table->values[s];
            cost[s] = survivors[s & (groups - 1)] + 2 * value * value - x * value;
        }
        uint8_t *choices = memory->choices + t * groups;
        for (int j = 0; j < groups; ++j) {
            int32_t best = cost[j * predecessors] * predecessors;
            for (int p = 1; p < predecessors; ++p) {
                const int32_t packed = cost[j * predecessors + p] * predecessors + p;
                best = packed < best ? packed : best;
            }
            choices[j] = (uint8_t)(best & (predecessors - 1));
            survivors[j] = (best - choices[j]) / predecessors;
            memory->last[j] = best;
        }
    }
}

#endif

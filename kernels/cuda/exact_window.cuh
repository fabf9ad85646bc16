// The part of attention over the exact window's f16 rows, in the basis that the graph hands rows in.
#pragma once
#include "attention_params.cuh"
#include "attention_rows.cuh"

DEVICE float sum_lanes(float x) {
#pragma unroll
    for (int h = 1; h < 32; h *= 2) x += __shfl_xor_sync(~0u, x, h);
    return x;
}

// One row of queries over the window's rows `first`, first + step, …: adds to sums, the maximum and the total.
template <int N>
DEVICE void exact_row(const AttentionSources &src, const AttentionParams &p, uint32_t seq, uint32_t kv_head,
                      const QueryRow &row, uint32_t first, uint32_t step, int lane, float (&sum)[N], float &m,
                      float &total) {
    const uint8_t *keys = src.k_exact + seq * p.k_exact.seq + kv_head * p.k_exact.head;
    const uint8_t *values = src.v_exact + seq * p.v_exact.seq + kv_head * p.v_exact.head;
    const float *q = (const float *)(src.q + seq * p.q.seq + row.head * p.q.head + row.query * p.q.row);
    const uint8_t *mask = src.mask_exact + seq * p.mask_exact_seq + row.query * p.mask_exact_row;
    const float slope = mask_slope(p, row.head);
    float query[N];
#pragma unroll
    for (int i = 0; i < N; i++) query[i] = q[lane + 32 * i] * p.scale;
    for (uint32_t t = first; t < p.n_exact; t += step) {
        const float added = half_bits(*(const uint16_t *)(mask + 2 * t));
        if (added == -INFINITY) continue;
        const uint16_t *k = (const uint16_t *)(keys + t * p.k_exact.row);
        const uint16_t *v = (const uint16_t *)(values + t * p.v_exact.row);
        float dot = 0;
#pragma unroll
        for (int i = 0; i < N; i++) dot += query[i] * half_bits(k[lane + 32 * i]);
        const float score = logit(p, sum_lanes(dot) * LOG2_E) + added * slope * LOG2_E;
        const float largest = fmaxf(m, score), shrink = exp2_fast(m - largest), weight = exp2_fast(score - largest);
        m = largest;
        total = total * shrink + weight;
#pragma unroll
        for (int i = 0; i < N; i++) sum[i] = sum[i] * shrink + weight * half_bits(v[lane + 32 * i]);
    }
}

// One warp's rows, `warp` and every `warps`-th after it, for HEADS rows of queries. Writes a part: sums, maxima, totals.
template <int D, int HEADS>
DEVICE void exact_part(const AttentionSources &src, const AttentionParams &p, uint32_t seq, uint32_t kv_head,
                       uint32_t first_row, int warp, int warps, int lane, float *part) {
    constexpr int N = D / 32;
    for (int r = 0; r < HEADS; r++) {
        const QueryRow row = query_row(p, kv_head, first_row + r);
        if (!row.there) continue;
        float sum[N] = {}, m = LOWEST_MAX, total = 0;
        exact_row<N>(src, p, seq, kv_head, row, warp, warps, lane, sum, m, total);
#pragma unroll
        for (int i = 0; i < N; i++) __stcg(part + r * D + lane + 32 * i, sum[i]);
        if (lane == 0) {
            __stcg(part + HEADS * D + r, m);
            __stcg(part + HEADS * D + HEADS + r, total);
        }
    }
}

// scores[head][t]: q4_polar rows against queries in the original basis.
#include "polar-rows.h"
#include "score-params.h"

kernel void eliza_polar_score(device const ushort *rows [[buffer(0)]],
                              device const float *queries [[buffer(1)]],
                              device float *scores [[buffer(2)]],
                              constant ScoreParams &p [[buffer(3)]],
                              threadgroup float *memory [[threadgroup(0)]],
                              uint thread_index [[thread_index_in_threadgroup]],
                              uint3 position [[threadgroup_position_in_grid]]) {
    const uint row = position.x * ROWS + team_row(thread_index), head = position.y;
    const uint kv_head = head / (p.n_heads / p.n_kv_heads);
    const float product = polar_row(rows, row * p.row_stride + kv_head * p.head_stride, row < p.n_kv,
                                    queries + head * p.head_dim, p.head_dim / 128, p.flags, memory, thread_index);
    if (row < p.n_kv && team_lane(thread_index) == 0) scores[head * p.n_kv + row] = product;
}

#pragma once
// scores[head][t] = sum of query[head][i] * row[t][i], the row decoded in the basis that its format keeps.
// One threadgroup decodes ROWS rows of one KV head once and scores HEADS query heads against them. Threads in teams
// share a row; their parts meet in threadgroup memory, so no width of SIMD-group is assumed.
#include "query.h"
#include "score-params.h"

constant uint HEADS [[function_constant(2)]];
constant uint MAX_HEADS = 8; // a function constant cannot size an array

template <class Format>
static void score(device const ushort *rows, device const float4 *queries, device float *scores,
                  typename Format::Source source, thread const ScoreParams &p,
                  threadgroup float *memory, uint thread_index, uint3 position) {
    threadgroup float *parts = memory + Format::SHARED_FLOATS;
    Format::stage(source, memory, thread_index);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const uint row = position.x * ROWS + team_row(thread_index);
    const uint kv_head = position.y;
    const uint group = p.n_heads / p.n_kv_heads;
    const uint first = position.z * HEADS; // among the query heads of this KV head
    const uint query_dim = p.head_dim * Format::QUERY_PER_VALUE;

    float sums[MAX_HEADS] = {0};
    if (row < p.n_kv) {
        const uint at = row * p.row_stride + kv_head * p.head_stride;
        for (uint unit = team_lane(thread_index); unit < query_dim / 16; unit += team_size()) {
            float v[16];
            const float scale = Format::decode(source, memory, p.flags, rows, at, unit, v);
            const uint2 place = Format::places(unit);
            for (uint h = 0; h < HEADS; h++) {
                if (first + h >= group) break;
                device const float4 *query = queries + (kv_head * group + first + h) * query_dim / 4;
                sums[h] += scale * (dot8(v, query + place.x / 4) + dot8(v + 8, query + place.y / 4));
            }
        }
    }

    const uint stride = team_size() + 1; // one over, against bank conflicts
    for (uint h = 0; h < HEADS; h++)
        parts[(h * ROWS + team_row(thread_index)) * stride + team_lane(thread_index)] = sums[h];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = thread_index; i < HEADS * ROWS; i += THREADS) {
        const uint h = i / ROWS, t = position.x * ROWS + i % ROWS;
        if (first + h >= group || t >= p.n_kv) continue;
        float sum = 0;
        for (uint lane = 0; lane < team_size(); lane++) sum += parts[i * stride + lane];
        scores[(kv_head * group + first + h) * p.n_kv + t] = sum;
    }
}

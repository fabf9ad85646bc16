#pragma once
// scores[head][t] = sum of query[head][i] * row[t][i], the row decoded in the basis that its format keeps.
// One threadgroup decodes ROWS rows of one KV head once and scores HEADS query heads against them, a slice of 128
// values after another. Slices of rows and queries go through threadgroup memory and so do the parts of a sum: no
// width of SIMD-group is assumed.
//
// A Format has QUERY_PER_VALUE, TURNS_QUERY, SHARED_WORDS, Source (buffers of its own), and four functions: stage
// fills its threadgroup memory; offset is the byte of a row at which the slice from `value` on begins; decode gives
// sixteen values of a slice and returns the scale they share; places says where in the query's slice the first and
// the last eight of them belong.
#include "rows.h"
#include "hadamard.h"
#include "params.h"

constant uint HEADS [[function_constant(2)]];
constant uint MAX_HEADS = 8; // a function constant cannot size an array

// The product of eight decoded values and eight of the query.
static float dot8(thread const float *v, threadgroup const float *query) {
    float sum = 0;
    for (uint i = 0; i < 8; i++) sum += v[i] * query[i];
    return sum;
}

template <class Format>
static void score(device const ushort *rows, device const float *queries, device float *scores,
                  typename Format::Source source, ScoreParams p, threadgroup uint *memory, uint thread_index,
                  uint3 position) {
    const uint query_slice = SLICE * Format::QUERY_PER_VALUE;
    threadgroup uint *row_slices = memory + Format::SHARED_WORDS;
    threadgroup float *query_slices = (threadgroup float *)(row_slices + ROWS * SLICE_WORDS);
    threadgroup float *parts = query_slices + HEADS * query_slice;

    const uint first_row = position.x * ROWS;
    const uint n_rows = min(ROWS, p.n_kv - first_row);
    const uint kv_head = position.y;
    const uint group = p.n_heads / p.n_kv_heads;
    const uint first_head = position.z * HEADS; // among the query heads of this KV head
    const uint query_dim = p.head_dim * Format::QUERY_PER_VALUE;
    const uint block_rows = first_row * p.row_stride + kv_head * p.head_stride;
    device const float *block_queries = queries + (kv_head * group + first_head) * query_dim;
    const uint own_row = team_row(thread_index);

    Format::stage(source, memory, thread_index);
    float sums[MAX_HEADS] = {0};
    for (uint value = 0; value < p.head_dim; value += SLICE) {
        const uint end = min(value + SLICE, p.head_dim);
        const uint start = Format::offset(source, value);
        const uint query_at = value * Format::QUERY_PER_VALUE;
        const uint query_length = (end - value) * Format::QUERY_PER_VALUE;
        threadgroup_barrier(mem_flags::mem_threadgroup); // the slice before has been read
        stage_rows(rows, block_rows + start, p.row_stride, Format::offset(source, end) - start, n_rows, row_slices,
                   thread_index);
        for (uint i = thread_index; i < HEADS * query_slice; i += THREADS) {
            const uint h = i / query_slice, at = i % query_slice;
            const bool there = first_head + h < group && at < query_length;
            query_slices[i] = there ? block_queries[h * query_dim + query_at + at] : 0.0f;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (Format::TURNS_QUERY) hadamard_slices(query_slices, HEADS, thread_index);
        if (own_row >= n_rows) continue;
        threadgroup const uint *row = row_slices + own_row * SLICE_WORDS;
        for (uint unit = team_lane(thread_index); unit < query_length / 16; unit += team_size()) {
            float v[16];
            const float scale = Format::decode(source, memory, p.flags, row, query_at / 16, start, unit, v);
            const uint2 place = Format::places(unit);
            for (uint h = 0; h < HEADS; h++) {
                threadgroup const float *query = query_slices + h * query_slice;
                sums[h] += scale * (dot8(v, query + place.x) + dot8(v + 8, query + place.y));
            }
        }
    }

    if (team_size() > 1) {
        for (uint h = 0; h < HEADS; h++) parts[h * THREADS + thread_index] = sums[h];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (team_lane(thread_index) != 0) return;
        for (uint h = 0; h < HEADS; h++)
            for (uint lane = 1; lane < team_size(); lane++) sums[h] += parts[h * THREADS + lane * ROWS + own_row];
    }
    if (own_row >= n_rows) return;
    for (uint h = 0; h < HEADS; h++) {
        if (first_head + h >= group) break;
        scores[(kv_head * group + first_head + h) * p.n_kv + first_row + own_row] = sums[h];
    }
}

// y = A x for a matrix of compressed rows is the score of one head.
template <class Format>
static void mul_mv(device const ushort *rows, device const float *vector, device float *result, MatrixParams p,
                   threadgroup uint *memory, uint thread_index, uint3 position) {
    const ScoreParams shape = {1, 1, p.n_rows, p.n_cols, p.row_stride, 0, p.flags};
    score<Format>(rows, vector, result, {}, shape, memory, thread_index, position);
}

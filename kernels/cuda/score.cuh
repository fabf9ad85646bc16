// scores[head][t] = sum of query[head][i] * row[t][i], the row decoded in the basis that its format keeps.
// One block decodes ROWS rows of one KV head once and scores HEADS query heads against them. Threads in teams
// share a row; their parts meet in shared memory.
#pragma once
#include "params.cuh"
#include "query.cuh"

template <class Format, uint32_t ROWS, uint32_t HEADS>
static __device__ __forceinline__ void score(const uint8_t *__restrict__ rows,
                                             const float *__restrict__ queries, float *__restrict__ scores,
                                             const typename Format::Source &source, const ScoreParams &p) {
    using T = Team<ROWS>;
    __shared__ typename Format::Shared shared;
    __shared__ float parts[HEADS * ROWS][T::SIZE + 1]; // one over, against bank conflicts
    Format::stage(source, shared);
    __syncthreads();
    const uint32_t row = blockIdx.x * ROWS + T::row();
    const uint32_t kv_head = blockIdx.y;
    const uint32_t group = p.n_heads / p.n_kv_heads;
    const uint32_t first = blockIdx.z * HEADS; // among the query heads of this KV head
    const uint32_t query_dim = p.head_dim * Format::QUERY_PER_VALUE;

    float sums[HEADS] = {};
    if (row < p.n_kv) {
        const uint32_t at = row * p.row_stride + kv_head * p.head_stride;
        for (uint32_t unit = T::lane(); unit < query_dim / 16; unit += T::SIZE) {
            float v[16];
            const float scale = Format::decode(source, shared, p.flags, rows, at, unit, v);
#pragma unroll
            for (uint32_t h = 0; h < HEADS; h++) {
                if (first + h >= group) break;
                const float *query = queries + (kv_head * group + first + h) * query_dim;
                sums[h] += scale * (dot8(v, query + Format::place(unit, 0)) +
                                    dot8(v + 8, query + Format::place(unit, 1)));
            }
        }
    }

#pragma unroll
    for (uint32_t h = 0; h < HEADS; h++)
        parts[h * ROWS + T::row()][T::lane()] = sums[h];
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < HEADS * ROWS; i += T::THREADS) {
        const uint32_t h = i / ROWS, t = blockIdx.x * ROWS + i % ROWS;
        if (first + h >= group || t >= p.n_kv) continue;
        float sum = 0;
#pragma unroll
        for (uint32_t lane = 0; lane < T::SIZE; lane++)
            sum += parts[i][lane];
        scores[(kv_head * group + first + h) * p.n_kv + t] = sum;
    }
}

// The instances of a kernel, NAME_r<rows>_h<heads>, for a format with no buffers of its own.
#define ELIZA_SCORE_KERNEL(NAME, FORMAT, R, H)                                                               \
    extern "C" __global__ void __launch_bounds__(Team<R>::THREADS)                                           \
        NAME##_r##R##_h##H(const uint8_t *rows, const float *queries, float *scores, ScoreParams params) {   \
        score<FORMAT, R, H>(rows, queries, scores, {}, params);                                              \
    }
#define ELIZA_FOR_HEADS(MACRO, NAME, FORMAT, R) \
    MACRO(NAME, FORMAT, R, 1) MACRO(NAME, FORMAT, R, 2) MACRO(NAME, FORMAT, R, 4) MACRO(NAME, FORMAT, R, 8)
#define ELIZA_FOR_ROWS_AND_HEADS(MACRO, NAME, FORMAT) \
    ELIZA_FOR_HEADS(MACRO, NAME, FORMAT, 1)           \
    ELIZA_FOR_HEADS(MACRO, NAME, FORMAT, 2)           \
    ELIZA_FOR_HEADS(MACRO, NAME, FORMAT, 4)           \
    ELIZA_FOR_HEADS(MACRO, NAME, FORMAT, 8)           \
    ELIZA_FOR_HEADS(MACRO, NAME, FORMAT, 32)

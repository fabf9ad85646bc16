// scores[head][t] = sum of query[head][i] * row[t][i], the row decoded in the basis that its format keeps.
// One block decodes ROWS rows of one KV head once and scores HEADS query heads against them, a slice of 128 values
// after another. Slices of rows and queries go through shared memory; parts of a sum meet there too.
//
// A Format has QUERY_PER_VALUE, TURNS_QUERY, Source (buffers of its own), Shared, and four functions: stage fills its
// Shared; offset is the byte of a row at which the slice from `value` on begins; decode gives sixteen values of a
// slice and returns the scale they share; place says where in the query's slice their first and last eight belong.
#pragma once
#include "hadamard.cuh"
#include "params.cuh"
#include "rows.cuh"

// The product of eight decoded values and eight of the query.
static __device__ __forceinline__ float dot8(const float *v, const float *query) {
    const float4 low = *(const float4 *)query, high = *((const float4 *)query + 1);
    return v[0] * low.x + v[1] * low.y + v[2] * low.z + v[3] * low.w + v[4] * high.x + v[5] * high.y + v[6] * high.z +
           v[7] * high.w;
}

template <class Format, uint32_t ROWS, uint32_t HEADS>
static __device__ __forceinline__ void score(const uint8_t *__restrict__ rows, const float *__restrict__ queries,
                                             float *__restrict__ scores, const typename Format::Source &source,
                                             const ScoreParams &p) {
    using T = Team<ROWS>;
    constexpr uint32_t QUERY = SLICE * Format::QUERY_PER_VALUE;
    __shared__ typename Format::Shared shared;
    __shared__ __align__(16) float query_slices[HEADS][QUERY];
    __shared__ __align__(16) uint32_t row_slices[ROWS][SLICE_WORDS];

    const uint32_t first_row = blockIdx.x * ROWS;
    const uint32_t n_rows = p.n_kv - first_row < ROWS ? p.n_kv - first_row : ROWS;
    const uint32_t kv_head = blockIdx.y;
    const uint32_t group = p.n_heads / p.n_kv_heads;
    const uint32_t first_head = blockIdx.z * HEADS; // among the query heads of this KV head
    const uint32_t query_dim = p.head_dim * Format::QUERY_PER_VALUE;
    const uint8_t *block_rows = rows + (size_t)first_row * p.row_stride + (size_t)kv_head * p.head_stride;
    const float *block_queries = queries + (kv_head * group + first_head) * query_dim;

    Format::stage(source, shared);
    float sums[HEADS] = {};
    for (uint32_t value = 0; value < p.head_dim; value += SLICE) {
        const uint32_t end = value + SLICE < p.head_dim ? value + SLICE : p.head_dim;
        const uint32_t offset = Format::offset(source, value);
        const uint32_t query_at = value * Format::QUERY_PER_VALUE;
        const uint32_t query_length = (end - value) * Format::QUERY_PER_VALUE;
        __syncthreads(); // the slice before has been read
        stage_rows<ROWS>(block_rows + offset, p.row_stride, Format::offset(source, end) - offset, n_rows, row_slices);
        for (uint32_t i = threadIdx.x; i < HEADS * QUERY; i += T::THREADS) {
            const uint32_t h = i / QUERY, at = i % QUERY;
            const bool there = first_head + h < group && at < query_length;
            query_slices[h][at] = there ? block_queries[h * query_dim + query_at + at] : 0.0f;
        }
        __syncthreads();
        if (Format::TURNS_QUERY) hadamard_slices<HEADS>(query_slices);
        if (T::row() >= n_rows) continue;
        for (uint32_t unit = T::lane(); unit < query_length / 16; unit += T::SIZE) {
            float v[16];
            const float scale =
                Format::decode(source, shared, p.flags, row_slices[T::row()], query_at / 16, offset, unit, v);
#pragma unroll
            for (uint32_t h = 0; h < HEADS; h++)
                sums[h] += scale * (dot8(v, query_slices[h] + Format::place(unit, 0)) +
                                    dot8(v + 8, query_slices[h] + Format::place(unit, 1)));
        }
    }

    if (T::SIZE > 1) {
        __shared__ float parts[HEADS][T::THREADS];
#pragma unroll
        for (uint32_t h = 0; h < HEADS; h++) parts[h][threadIdx.x] = sums[h];
        __syncthreads();
        if (T::lane() != 0) return;
#pragma unroll
        for (uint32_t h = 0; h < HEADS; h++)
            for (uint32_t lane = 1; lane < T::SIZE; lane++) sums[h] += parts[h][lane * ROWS + T::row()];
    }
    if (T::row() >= n_rows) return;
#pragma unroll
    for (uint32_t h = 0; h < HEADS; h++) {
        if (first_head + h >= group) break;
        scores[(size_t)(kv_head * group + first_head + h) * p.n_kv + first_row + T::row()] = sums[h];
    }
}

// y = A x for a matrix of compressed rows is the score of one head.
template <class Format, uint32_t ROWS>
static __device__ __forceinline__ void mul_mv(const uint8_t *__restrict__ rows, const float *__restrict__ vector,
                                              float *__restrict__ result, const MatrixParams &p) {
    score<Format, ROWS, 1>(rows, vector, result, {}, {1, 1, p.n_rows, p.n_cols, p.row_stride, 0, p.flags});
}

// The instances of a kernel, NAME_r<rows>_h<heads>, for a format with no buffers of its own.
#define ELIZA_SCORE_KERNEL(NAME, FORMAT, R, H)                                                                         \
    extern "C" __global__ void __launch_bounds__(Team<R>::THREADS)                                                     \
        NAME##_r##R##_h##H(const uint8_t *rows, const float *queries, float *scores, ScoreParams params) {             \
        score<FORMAT, R, H>(rows, queries, scores, {}, params);                                                        \
    }
#define ELIZA_FOR_HEADS(MACRO, NAME, FORMAT, R)                                                                        \
    MACRO(NAME, FORMAT, R, 1) MACRO(NAME, FORMAT, R, 2) MACRO(NAME, FORMAT, R, 4) MACRO(NAME, FORMAT, R, 8)
#define ELIZA_FOR_ROWS_AND_HEADS(MACRO, NAME, FORMAT)                                                                  \
    ELIZA_FOR_HEADS(MACRO, NAME, FORMAT, 1)                                                                            \
    ELIZA_FOR_HEADS(MACRO, NAME, FORMAT, 2)                                                                            \
    ELIZA_FOR_HEADS(MACRO, NAME, FORMAT, 4)                                                                            \
    ELIZA_FOR_HEADS(MACRO, NAME, FORMAT, 8)                                                                            \
    ELIZA_FOR_HEADS(MACRO, NAME, FORMAT, 32)                                                                           \
    ELIZA_FOR_HEADS(MACRO, NAME, FORMAT, 128)

// The instances of a mul_mv kernel, NAME_r<rows>.
#define ELIZA_MUL_MV_KERNEL(NAME, FORMAT, R)                                                                           \
    extern "C" __global__ void __launch_bounds__(Team<R>::THREADS)                                                     \
        NAME##_r##R(const uint8_t *rows, const float *vector, float *result, MatrixParams params) {                    \
        mul_mv<FORMAT, R>(rows, vector, result, params);                                                               \
    }
#define ELIZA_FOR_ROWS(MACRO, NAME, FORMAT)                                                                            \
    MACRO(NAME, FORMAT, 1)                                                                                             \
    MACRO(NAME, FORMAT, 2) MACRO(NAME, FORMAT, 4) MACRO(NAME, FORMAT, 8) MACRO(NAME, FORMAT, 32)                       \
        MACRO(NAME, FORMAT, 128)

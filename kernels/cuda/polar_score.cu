// scores[head][t]: q4_polar rows against queries in the original basis.
#include "polar-rows.cuh"
#include "params.cuh"

template <uint32_t ROWS>
static __device__ __forceinline__ void polar_score(const uint8_t *__restrict__ rows,
                                                   const float *__restrict__ queries, float *__restrict__ scores,
                                                   const ScoreParams &p) {
    using T = Team<ROWS>;
    const uint32_t row = blockIdx.x * ROWS + T::row(), head = blockIdx.y;
    const uint32_t kv_head = head / (p.n_heads / p.n_kv_heads);
    const float product = polar_row<ROWS>(rows, row * p.row_stride + kv_head * p.head_stride, row < p.n_kv,
                                          queries + head * p.head_dim, p.head_dim / 128, p.flags);
    if (row < p.n_kv && T::lane() == 0) scores[head * p.n_kv + row] = product;
}

#define ELIZA_KERNEL(R)                                                                                            \
    extern "C" __global__ void __launch_bounds__(Team<R>::THREADS)                                                 \
        eliza_polar_score_r##R(const uint8_t *rows, const float *queries, float *scores, ScoreParams params) {     \
        polar_score<R>(rows, queries, scores, params);                                                             \
    }
ELIZA_FOR_ROWS(ELIZA_KERNEL)

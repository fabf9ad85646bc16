// y = A x for a matrix of q4_polar rows and a vector in the original basis.
#include "polar-rows.cuh"
#include "params.cuh"

template <uint32_t ROWS>
static __device__ __forceinline__ void polar_mul_mv(const uint8_t *__restrict__ rows, const float *__restrict__ query,
                                                    float *__restrict__ result, const MatrixParams &p) {
    using T = Team<ROWS>;
    const uint32_t row = blockIdx.x * ROWS + T::row();
    const float product =
        polar_row<ROWS>(rows, row * p.row_stride, row < p.n_rows, query, p.n_cols / 128, p.flags);
    if (row < p.n_rows && T::lane() == 0) result[row] = product;
}

#define ELIZA_KERNEL(R)                                                                                            \
    extern "C" __global__ void __launch_bounds__(Team<R>::THREADS)                                                 \
        eliza_polar_mul_mv_r##R(const uint8_t *rows, const float *query, float *result, MatrixParams params) {     \
        polar_mul_mv<R>(rows, query, result, params);                                                              \
    }
ELIZA_FOR_ROWS(ELIZA_KERNEL)

// y[r]: every qjl1_256 row of a matrix against one sketch. n_cols counts values before projection.
#include "qjl.cuh"
#include "params.cuh"

template <uint32_t ROWS>
static __device__ __forceinline__ void qjl_mul_mv(const uint8_t *__restrict__ rows, const float *__restrict__ sketch,
                                                  float *__restrict__ result, const MatrixParams &p) {
    using T = Team<ROWS>;
    const uint32_t row = blockIdx.x * ROWS + T::row();
    float sum = 0;
    if (row < p.n_rows) {
        for (uint32_t unit = T::lane(); unit < p.n_cols * Qjl::QUERY_PER_VALUE / 16; unit += T::SIZE) {
            float v[16];
            const float scale = Qjl::decode({}, {}, p.flags, rows, row * p.row_stride, unit, v);
            sum += scale * (dot8(v, sketch + Qjl::place(unit, 0)) + dot8(v + 8, sketch + Qjl::place(unit, 1)));
        }
    }
    const float product = team_sum<ROWS>(sum);
    if (row < p.n_rows && T::lane() == 0) result[row] = product;
}

#define ELIZA_KERNEL(R)                                                                                            \
    extern "C" __global__ void __launch_bounds__(Team<R>::THREADS)                                                 \
        eliza_qjl_mul_mv_r##R(const uint8_t *rows, const float *sketch, float *result, MatrixParams params) {      \
        qjl_mul_mv<R>(rows, sketch, result, params);                                                               \
    }
ELIZA_FOR_ROWS(ELIZA_KERNEL)

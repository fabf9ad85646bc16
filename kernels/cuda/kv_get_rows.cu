// Decodes cached rows; kernels/portable/get_rows.inc says how.
#include "portable.cuh"

static constexpr uint THREADS = 64;
#define HEAD_DIM p.head_dim

#include "../portable/cache_formats.inc"
#include "../portable/get_rows_params.inc"

struct GetRows {
    const uint16_t *rows;
    const uint *ids;
    uint *result;
    const uint *codebooks; // int8 [6][512], by bits a symbol
    const float *projection;
    const GetRowsParams &p;
    float *turned, *levels;
    uint *codebook_words;
    float unit_values[16];

    FN uint load(uint, uint64_t pair) { return rows[pair]; }

#include "../portable/cache_rows.inc"
#include "../portable/rotation.inc"
#include "../portable/half_bits.inc"
#include "../portable/get_rows.inc"
};

extern "C" __global__ void __launch_bounds__(THREADS)
    eliza_kv_get_rows(const uint16_t *rows, const uint *ids, uint *result, const uint *codebooks,
                      const float *projection, const __grid_constant__ GetRowsParams params) {
    __shared__ float turned[1024];
    __shared__ float levels[16];
    __shared__ uint codebook_words[768];
    GetRows get = {rows, ids, result, codebooks, projection, params, turned, levels, codebook_words, {}};
    get.run_get_rows();
}

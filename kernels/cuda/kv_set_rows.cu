// Encodes cached rows of every format, in one module; kernels/portable/set_rows.inc says how. set_rows.cu has modules
// of one format each, which are faster.
#include "portable.cuh"

static constexpr uint THREADS = 128;
#define HEAD_DIM p.head_dim

#include "../portable/cache_formats.inc"
#include "../portable/set_rows_params.inc"

struct SetRows {
    const uint *given, *ids;
    uint16_t *rows;
    const uint *codebooks; // int8 [6][512], by bits a symbol
    const float *projection;
    const SetRowsParams &p;
    float *turned, *unit, *level, *lanes;
    uint *codes, *states, *chosen, *choices;
    int *samples, *survivors, *partial;
    int costs[4];
    uint span, tile_kind;
    float energy, rms;

    FN void store(uint64_t pair, uint bits) { rows[pair] = (uint16_t)bits; }

#include "../portable/cache_layout.inc"
#include "../portable/rotation.inc"
#include "../portable/set_rows.inc"
};

extern "C" __global__ void __launch_bounds__(THREADS)
    eliza_kv_set_rows(const uint *given, const uint *ids, uint16_t *rows, const uint *codebooks,
                      const float *projection, const __grid_constant__ SetRowsParams params) {
    __shared__ float floats[4 * 128];
    __shared__ uint words[2 * 128 + 256 + 1024];
    __shared__ int integers[128 + 256 + 256];
    SetRows set = {given,  ids,          rows,         codebooks,    projection, params,
                   floats, floats + 128, floats + 256, floats + 384, words,      words + 128,
                   words + 256, words + 512, integers, integers + 128, integers + 384, {}, 0, 0, 0, 0};
    set.run_set_rows();
}

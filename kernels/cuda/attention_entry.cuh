// One pair of cache types at one head size. Other pairs are other definitions of the three names below.
#pragma once
#include "attention_params.cuh"
#include "attention_types.cuh"

#ifndef ELIZA_K_TYPE
#define ELIZA_K_TYPE turbo4
#endif
#ifndef ELIZA_V_TYPE
#define ELIZA_V_TYPE turbo4
#endif
#ifndef ELIZA_HEAD_DIM
#define ELIZA_HEAD_DIM 128
#endif

using KeyType = cache_type::ELIZA_K_TYPE<ELIZA_HEAD_DIM>;
using ValueType = cache_type::ELIZA_V_TYPE<ELIZA_HEAD_DIM>;

// A kernel of a shape, which says how many threads and how much shared memory a block has.
#define ELIZA_ATTENTION_ENTRY(NAME, WORK, ...)                                                                         \
    using NAME##_shape = __VA_ARGS__;                                                                                  \
    extern "C" __global__ void __launch_bounds__(NAME##_shape::THREADS, 1)                                             \
        NAME(const uint8_t *q, const uint8_t *k, const uint8_t *v, const uint8_t *mask, const float *sinks,            \
             const uint8_t *k_exact, const uint8_t *v_exact, const uint8_t *mask_exact, const uint32_t *codebooks,     \
             float *out, uint8_t *workspace, const __grid_constant__ AttentionParams params) {                         \
        DYNAMIC_SHARED(memory);                                                                                        \
        const AttentionSources sources = {q,       k,          v,         mask, sinks,    k_exact,                     \
                                          v_exact, mask_exact, codebooks, out,  workspace};                            \
        WORK<NAME##_shape>(sources, params, memory);                                                                   \
    }                                                                                                                  \
    extern "C" __device__ const uint32_t NAME##_threads = NAME##_shape::THREADS, NAME##_shared = NAME##_shape::SHARED;

// One pair of cache types at one head size. Other pairs are other definitions of the three names below.
#include "attention_decode.cuh"

#ifndef ELIZA_K_TYPE
#define ELIZA_K_TYPE turbo4
#endif
#ifndef ELIZA_V_TYPE
#define ELIZA_V_TYPE turbo4
#endif
#ifndef ELIZA_HEAD_DIM
#define ELIZA_HEAD_DIM 128
#endif

// For up to four and for up to eight rows of queries a pass, for caches whose rows of a head lie together (packed) and
// for any others. The grid is x alone, of at most as many blocks as the device has multiprocessors; the two constants
// say how large a block is.
#define ELIZA_ATTENTION_KERNEL(NAME, HEADS, PACKED)                                                                    \
    using NAME##_shape = AttentionShape<ELIZA_HEAD_DIM, cache_type::ELIZA_K_TYPE<ELIZA_HEAD_DIM>,                      \
                                        cache_type::ELIZA_V_TYPE<ELIZA_HEAD_DIM>, HEADS, PACKED>;                      \
    extern "C" __global__ void __launch_bounds__(NAME##_shape::THREADS, 1)                                             \
        NAME(const uint8_t *q, const uint8_t *k, const uint8_t *v, const uint8_t *mask, const float *sinks,            \
             const uint8_t *k_exact, const uint8_t *v_exact, const uint8_t *mask_exact, const uint32_t *codebooks,     \
             float *out, uint8_t *workspace, const __grid_constant__ AttentionParams params) {                         \
        DYNAMIC_SHARED(memory);                                                                                        \
        const AttentionSources sources = {q,       k,          v,         mask, sinks,    k_exact,                     \
                                          v_exact, mask_exact, codebooks, out,  workspace};                            \
        decode_attention<NAME##_shape>(sources, params, memory);                                                       \
    }                                                                                                                  \
    extern "C" __device__ const uint32_t NAME##_threads = NAME##_shape::THREADS, NAME##_shared = NAME##_shape::SHARED;
ELIZA_ATTENTION_KERNEL(eliza_attention_h4, 4, false)
ELIZA_ATTENTION_KERNEL(eliza_attention_h8, 8, false)
ELIZA_ATTENTION_KERNEL(eliza_attention_h4_packed, 4, true)
ELIZA_ATTENTION_KERNEL(eliza_attention_h8_packed, 8, true)

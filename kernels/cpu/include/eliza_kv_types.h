// The ggml type ids of the KV cache formats. 96 to 127 keep clear of upstream and of the forks.
// A block of a type is one tile (a whole head for the mixed types). Ids are written into saved states: never reuse one.
#ifndef ELIZA_KV_TYPES_H
#define ELIZA_KV_TYPES_H

#define ELIZA_KV_TYPE_FIRST 96
#define ELIZA_KV_TYPE_COUNT 128

#define ELIZA_KV_TYPE_TURBO4 96
#define ELIZA_KV_TYPE_TBQ3 97
#define ELIZA_KV_TYPE_TURBO3 98
#define ELIZA_KV_TYPE_TURBO3_64 99
#define ELIZA_KV_TYPE_TURBO3_TCQ 100
#define ELIZA_KV_TYPE_TURBO3_TCQ_64 101
#define ELIZA_KV_TYPE_TURBO4_TCQ 102
#define ELIZA_KV_TYPE_TURBO4_TCQ_64 103
#define ELIZA_KV_TYPE_TURBO2_TCQ 104
#define ELIZA_KV_TYPE_TURBO2_TCQ_64 105
#define ELIZA_KV_TYPE_QJL1_256 106
#define ELIZA_KV_TYPE_QJL1_256_IID 107
#define ELIZA_KV_TYPE_Q4_POLAR 108

// The number after a mixed type is the head size; its block is one head.
#define ELIZA_KV_TYPE_TURBO4_MIX_64 109
#define ELIZA_KV_TYPE_TURBO4_MIX_128 110
#define ELIZA_KV_TYPE_TURBO4_MIX_256 111
#define ELIZA_KV_TYPE_TURBO4_MIX_512 112
#define ELIZA_KV_TYPE_TURBO3_MIX_64 113
#define ELIZA_KV_TYPE_TURBO3_MIX_128 114
#define ELIZA_KV_TYPE_TURBO3_MIX_256 115
#define ELIZA_KV_TYPE_TURBO3_MIX_512 116
#define ELIZA_KV_TYPE_TURBO2_MIX_64 117
#define ELIZA_KV_TYPE_TURBO2_MIX_128 118
#define ELIZA_KV_TYPE_TURBO2_MIX_256 119
#define ELIZA_KV_TYPE_TURBO2_MIX_512 120

// Prepared queries: what vec_dot reads on the other side. Never a cache type, never in a file.
// 32, 64, 128: float32 turned by the signed rotation of that width. POLAR: float32 through H128 alone.
// QJL: the 256 values of the sketch of 128, in fp16.
#define ELIZA_KV_TYPE_QUERY_32 121
#define ELIZA_KV_TYPE_QUERY_64 122
#define ELIZA_KV_TYPE_QUERY_128 123
#define ELIZA_KV_TYPE_QUERY_POLAR 124
#define ELIZA_KV_TYPE_QUERY_QJL 125
#define ELIZA_KV_TYPE_QUERY_QJL_IID 126

#endif

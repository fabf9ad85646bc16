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

// Prepared queries: what vec_dot reads on the other side. Never a cache type, never in a file.
#define ELIZA_KV_TYPE_QUERY_32 120

#endif

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

// Every format once: X(format, id, cache name, tile, bytes of a tile, query, kind). The id is of ELIZA_KV_TYPE_<id>, the
// query of ELIZA_KV_TYPE_QUERY_<query>. Those of one cache name stand together, the widest tile first. Kinds:
//   ROTATED   a code of the row in a basis of the format's own
//   MIXED     the same, of use only behind a map that sorts the dimensions; the tile is the whole head
//   SKETCHED  signs of a projection: no code of the row
#define ELIZA_KV_EACH(X)                                                                                               \
    X(turbo4, TURBO4, turbo4, 32, 18, 32, ROTATED)                                                                     \
    X(tbq3, TBQ3, tbq3, 32, 14, 32, ROTATED)                                                                           \
    X(turbo3, TURBO3, turbo3, 128, 56, 128, ROTATED)                                                                   \
    X(turbo3_64, TURBO3_64, turbo3, 64, 28, 64, ROTATED)                                                               \
    X(turbo3_tcq, TURBO3_TCQ, turbo3_tcq, 128, 52, 128, ROTATED)                                                       \
    X(turbo3_tcq_64, TURBO3_TCQ_64, turbo3_tcq, 64, 26, 64, ROTATED)                                                   \
    X(turbo4_tcq, TURBO4_TCQ, turbo4_tcq, 128, 66, 128, ROTATED)                                                       \
    X(turbo4_tcq_64, TURBO4_TCQ_64, turbo4_tcq, 64, 34, 64, ROTATED)                                                   \
    X(turbo2_tcq, TURBO2_TCQ, turbo2_tcq, 128, 34, 128, ROTATED)                                                       \
    X(turbo2_tcq_64, TURBO2_TCQ_64, turbo2_tcq, 64, 18, 64, ROTATED)                                                   \
    X(qjl1_256, QJL1_256, qjl1_256, 128, 34, QJL, SKETCHED)                                                            \
    X(qjl1_256_iid, QJL1_256_IID, qjl1_256_iid, 128, 34, QJL_IID, SKETCHED)                                            \
    X(q4_polar, Q4_POLAR, q4_polar, 128, 82, POLAR, ROTATED)                                                           \
    X(turbo4_mix_512, TURBO4_MIX_512, turbo4_mix, 512, 264, 128, MIXED)                                                \
    X(turbo4_mix_256, TURBO4_MIX_256, turbo4_mix, 256, 136, 64, MIXED)                                                 \
    X(turbo4_mix_128, TURBO4_MIX_128, turbo4_mix, 128, 72, 32, MIXED)                                                  \
    X(turbo4_mix_64, TURBO4_MIX_64, turbo4_mix, 64, 36, 32, MIXED)                                                     \
    X(turbo3_mix_512, TURBO3_MIX_512, turbo3_mix, 512, 200, 128, MIXED)                                                \
    X(turbo3_mix_256, TURBO3_MIX_256, turbo3_mix, 256, 104, 64, MIXED)                                                 \
    X(turbo3_mix_128, TURBO3_MIX_128, turbo3_mix, 128, 56, 32, MIXED)                                                  \
    X(turbo3_mix_64, TURBO3_MIX_64, turbo3_mix, 64, 28, 32, MIXED)                                                     \
    X(turbo2_mix_512, TURBO2_MIX_512, turbo2_mix, 512, 136, 128, MIXED)                                                \
    X(turbo2_mix_256, TURBO2_MIX_256, turbo2_mix, 256, 72, 64, MIXED)                                                  \
    X(turbo2_mix_128, TURBO2_MIX_128, turbo2_mix, 128, 40, 32, MIXED)                                                  \
    X(turbo2_mix_64, TURBO2_MIX_64, turbo2_mix, 64, 20, 32, MIXED)

// Every prepared query once: X(query, name, tile, bytes of a tile, a format that prepares it).
#define ELIZA_KV_EACH_QUERY(X)                                                                                         \
    X(32, "query rotated by 32", 32, 128, turbo4)                                                                      \
    X(64, "query rotated by 64", 64, 256, turbo3_64)                                                                   \
    X(128, "query rotated by 128", 128, 512, turbo3)                                                                   \
    X(POLAR, "query for q4_polar", 128, 512, q4_polar)                                                                 \
    X(QJL, "query sketched for qjl1_256", 128, 512, qjl1_256)                                                          \
    X(QJL_IID, "query sketched for qjl1_256_iid", 128, 512, qjl1_256_iid)

#endif

// Parameters of the kernels, passed by value.
#pragma once
#include <stdint.h>

struct ScoreParams {
    uint32_t n_heads;
    uint32_t n_kv_heads;
    uint32_t n_kv;
    uint32_t head_dim;
    uint32_t row_stride;  // bytes from one position's row to the next
    uint32_t head_stride; // bytes from one KV head's row to the next
    uint32_t flags;
};

// Of the kernels that take a matrix of compressed rows. get_rows: n_rows counts the ids.
struct MatrixParams {
    uint32_t n_rows;
    uint32_t n_cols;
    uint32_t row_stride; // bytes
    uint32_t flags;
};

#pragma once
// Parameters of the kernels.
struct ScoreParams {
    uint n_heads;
    uint n_kv_heads;
    uint n_kv;
    uint head_dim;
    uint row_stride;  // bytes from one position's row to the next
    uint head_stride; // bytes from one KV head's row to the next
    uint flags;
};

// Of the kernels that take a matrix of compressed rows. get_rows: n_rows counts the ids.
struct MatrixParams {
    uint n_rows;
    uint n_cols;
    uint row_stride; // bytes
    uint flags;
};

#pragma once
// Parameters of the kernels that take a matrix of compressed rows. get_rows: n_rows counts the ids.
struct MatrixParams {
    uint n_rows;
    uint n_cols;
    uint row_stride; // bytes
    uint flags;
};

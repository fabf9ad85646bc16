// y = A x for a matrix of compressed rows is the score of one head.
layout(push_constant) uniform Params {
    uint n_rows;
    uint n_cols;
    uint row_stride;
    uint flags;
};

void main() { score(Shape(1, 1, n_rows, n_cols, row_stride, 0, flags)); }

#version 450
#extension GL_GOOGLE_include_directive : require
// y = A x for a matrix of q4_polar rows and a vector in the original basis.
#include "polar-rows.glsl"

layout(push_constant) uniform Params {
    uint n_rows;
    uint n_cols;
    uint row_stride;
    uint flags;
};

void main() {
    const uint row = gl_WorkGroupID.x * ROWS + team_row();
    multiply_row(row * row_stride, row < n_rows, 0, n_cols / 128, flags, row);
}

#version 450
#extension GL_GOOGLE_include_directive : require
// scores[head][t]: q4_polar rows against queries in the original basis.
#include "polar-rows.glsl"

layout(push_constant) uniform Params {
    uint n_heads;
    uint n_kv_heads;
    uint n_kv;
    uint head_dim;
    uint row_stride;
    uint head_stride;
    uint flags;
};

void main() {
    const uint row = gl_WorkGroupID.x * ROWS + team_row(), head = gl_WorkGroupID.y;
    const uint kv_head = head / (n_heads / n_kv_heads);
    multiply_row(row * row_stride + kv_head * head_stride, row < n_kv, head * head_dim, head_dim / 128, flags,
                 head * n_kv + row);
}

#version 450
#extension GL_GOOGLE_include_directive : require
// out[i] = row ids[i] of a matrix of q4_polar rows, decoded to the original basis. A workgroup decodes one tile.
#include "polar.glsl"

layout(std430, binding = 1) readonly buffer Ids { uint ids[]; };
layout(std430, binding = 2) writeonly buffer Result { float result[]; };
layout(push_constant) uniform Params {
    uint n_ids;
    uint n_cols;
    uint row_stride;
    uint flags;
};
shared float query_slices[SLICE]; // the tile
#include "hadamard.glsl"

void main() {
    const uint thread = gl_LocalInvocationIndex, threads = gl_WorkGroupSize.x;
    const uint first = gl_WorkGroupID.y * SLICE;
    stage(thread, threads);
    stage_rows(ids[gl_WorkGroupID.x] * row_stride + offset(first), row_stride, 82, 1);
    barrier();
    for (uint unit = thread; unit < 8; unit += threads) {
        float values[16];
        const float scale = decode(0, flags, 0, 0, unit, values);
        for (uint i = 0; i < 16; i++) query_slices[unit * 16 + i] = scale * values[i];
    }
    barrier();
    hadamard_slices(1);
    for (uint i = thread; i < SLICE; i += threads) result[gl_WorkGroupID.x * n_cols + first + i] = query_slices[i];
}

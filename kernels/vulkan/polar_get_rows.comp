#version 450
#extension GL_GOOGLE_include_directive : require
// out[i] = row ids[i] of a matrix of q4_polar rows, decoded to the original basis. A workgroup decodes one tile.
#include "polar.glsl"
#include "hadamard.glsl"

layout(std430, binding = 1) readonly buffer Ids { uint ids[]; };
layout(std430, binding = 2) writeonly buffer Result { float result[]; };
layout(push_constant) uniform Params {
    uint n_ids;
    uint n_cols;
    uint row_stride;
    uint flags;
};

void main() {
    const uint thread = gl_LocalInvocationIndex, threads = gl_WorkGroupSize.x;
    const uint t = gl_WorkGroupID.y;
    stage(thread, threads);
    barrier();
    for (uint unit = thread; unit < 8; unit += threads) {
        float values[16];
        const float scale = decode(ids[gl_WorkGroupID.x] * row_stride, t * 8 + unit, flags, values);
        for (uint i = 0; i < 16; i++) tile[unit * 16 + i] = scale * values[i];
    }
    hadamard_tile();
    for (uint i = thread; i < 128; i += threads) result[gl_WorkGroupID.x * n_cols + t * 128 + i] = tile[i];
}

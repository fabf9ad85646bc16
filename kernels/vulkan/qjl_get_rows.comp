#version 450
#extension GL_GOOGLE_include_directive : require
// out[i] = row ids[i] of a matrix of qjl1_256 rows, the signs taken back through the projection. A workgroup
// decodes one block of 128 values.
#include "qjl.glsl"

layout(std430, binding = 1) readonly buffer Ids { uint ids[]; };
layout(std430, binding = 2) writeonly buffer Result { float result[]; };
layout(std430, binding = 3) readonly buffer Projection { vec4 projection[]; }; // [128][256]
layout(push_constant) uniform Params {
    uint n_ids;
    uint n_cols;
    uint row_stride;
    uint flags;
};

void main() {
    const uint first = gl_WorkGroupID.y * SLICE;
    stage_rows(ids[gl_WorkGroupID.x] * row_stride + offset(first), row_stride, 34, 1);
    barrier();
    for (uint i = gl_LocalInvocationIndex; i < SLICE; i += gl_WorkGroupSize.x) {
        float sum = 0.0, scale = 0.0;
        for (uint unit = 0; unit < 16; unit++) {
            float signs[16];
            scale = decode(0, flags, 0, 0, unit, signs);
            for (uint j = 0; j < 4; j++)
                sum += dot(vec4(signs[4 * j], signs[4 * j + 1], signs[4 * j + 2], signs[4 * j + 3]),
                           projection[i * 64 + unit * 4 + j]);
        }
        result[gl_WorkGroupID.x * n_cols + first + i] = scale * sum;
    }
}

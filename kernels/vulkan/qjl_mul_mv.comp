#version 450
#extension GL_GOOGLE_include_directive : require
// y[r]: every qjl1_256 row of a matrix against one sketch. n_cols counts values before projection.
#include "qjl.glsl"
#include "query.glsl"

layout(std430, binding = 2) writeonly buffer Result { float result[]; };
layout(push_constant) uniform Params {
    uint n_rows;
    uint n_cols;
    uint row_stride;
    uint flags;
};

shared float parts[ROWS * (gl_WorkGroupSize.x / ROWS + 1)];

void main() {
    const uint row = gl_WorkGroupID.x * ROWS + team_row();
    float sum = 0.0;
    if (row < n_rows) {
        for (uint unit = team_lane(); unit < n_cols * QUERY_PER_VALUE / 16; unit += team_size()) {
            float values[16];
            const float scale = decode(row * row_stride, unit, flags, values);
            const uvec2 place = places(unit);
            sum += scale * (dot8(values, 0, place.x) + dot8(values, 8, place.y));
        }
    }
    const uint base = team_row() * (team_size() + 1);
    parts[base + team_lane()] = sum;
    barrier();
    if (row < n_rows && team_lane() == 0) {
        float total = 0.0;
        for (uint lane = 0; lane < team_size(); lane++) total += parts[base + lane];
        result[row] = total;
    }
}

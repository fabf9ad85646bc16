// Products of q4_polar rows with one query in the original basis: H128 is its own transpose, so it is applied once
// to each tile of the query rather than to every row.
#include "polar.glsl"
#include "hadamard.glsl"

layout(std430, binding = 1) readonly buffer Query { float query[]; };
layout(std430, binding = 2) writeonly buffer Result { float result[]; };

shared float parts[ROWS * (gl_WorkGroupSize.x / ROWS + 1)];

// Row number `row` lies at byte `at`; the query begins at `query_at`; the product goes to result[out_at].
void multiply_row(uint at, bool valid, uint query_at, uint tiles, uint flags, uint out_at) {
    stage(gl_LocalInvocationIndex, gl_WorkGroupSize.x);
    float sum = 0.0;
    for (uint t = 0; t < tiles; t++) {
        barrier(); // the tile before has been read
        for (uint i = gl_LocalInvocationIndex; i < 128; i += gl_WorkGroupSize.x)
            tile[i] = query[query_at + t * 128 + i];
        hadamard_tile();
        if (valid) {
            for (uint unit = team_lane(); unit < 8; unit += team_size()) {
                float values[16];
                const float scale = decode(at, t * 8 + unit, flags, values);
                float dot = 0.0;
                for (uint i = 0; i < 16; i++) dot += values[i] * tile[unit * 16 + i];
                sum += scale * dot;
            }
        }
    }
    const uint base = team_row() * (team_size() + 1);
    parts[base + team_lane()] = sum;
    barrier();
    if (valid && team_lane() == 0) {
        float total = 0.0;
        for (uint lane = 0; lane < team_size(); lane++) total += parts[base + lane];
        result[out_at] = total;
    }
}

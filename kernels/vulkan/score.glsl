// scores[head][t] = sum of query[head][i] * row[t][i], the row decoded in the basis that its format keeps.
// One workgroup decodes ROWS rows of one KV head once and scores HEADS query heads against them. Threads in teams
// share a row; their parts meet in shared memory, so no width of subgroup is assumed.
//
// The format's file, included first, defines QUERY_PER_VALUE, stage, decode and places.

layout(constant_id = 2) const uint HEADS = 1;

#include "query.glsl"
layout(std430, binding = 2) writeonly buffer Scores { float scores[]; };
layout(push_constant) uniform Params {
    uint n_heads;
    uint n_kv_heads;
    uint n_kv;
    uint head_dim;
    uint row_stride;  // bytes from one position's row to the next
    uint head_stride; // bytes from one KV head's row to the next
    uint flags;
};

shared float parts[HEADS * ROWS * (gl_WorkGroupSize.x / ROWS + 1)];

void main() {
    stage(gl_LocalInvocationIndex, gl_WorkGroupSize.x);
    barrier();
    const uint row = gl_WorkGroupID.x * ROWS + team_row();
    const uint kv_head = gl_WorkGroupID.y;
    const uint group = n_heads / n_kv_heads;
    const uint first = gl_WorkGroupID.z * HEADS; // among the query heads of this KV head
    const uint query_dim = head_dim * QUERY_PER_VALUE;

    float sums[HEADS];
    for (uint h = 0; h < HEADS; h++) sums[h] = 0.0;
    if (row < n_kv) {
        const uint at = row * row_stride + kv_head * head_stride;
        for (uint unit = team_lane(); unit < query_dim / 16; unit += team_size()) {
            float values[16];
            const float scale = decode(at, unit, flags, values);
            const uvec2 place = places(unit);
            for (uint h = 0; h < HEADS; h++) {
                if (first + h >= group) break;
                const uint query = (kv_head * group + first + h) * query_dim;
                sums[h] += scale * (dot8(values, 0, query + place.x) + dot8(values, 8, query + place.y));
            }
        }
    }

    const uint stride = team_size() + 1; // one over, against bank conflicts
    for (uint h = 0; h < HEADS; h++) parts[(h * ROWS + team_row()) * stride + team_lane()] = sums[h];
    barrier();
    for (uint i = gl_LocalInvocationIndex; i < HEADS * ROWS; i += gl_WorkGroupSize.x) {
        const uint h = i / ROWS, t = gl_WorkGroupID.x * ROWS + i % ROWS;
        if (first + h >= group || t >= n_kv) continue;
        float sum = 0.0;
        for (uint lane = 0; lane < team_size(); lane++) sum += parts[i * stride + lane];
        scores[(kv_head * group + first + h) * n_kv + t] = sum;
    }
}

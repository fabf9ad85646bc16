// scores[head][t] = sum of query[head][i] * row[t][i], the row decoded in the basis that its format keeps.
// One workgroup decodes ROWS rows of one KV head once and scores HEADS query heads against them, a slice of 128
// values after another. Slices of rows and queries go through shared memory and so do the parts of a sum: no width of
// subgroup is assumed.
//
// The format's file, included first, defines QUERY_PER_VALUE, TURNS_QUERY, and four functions: stage fills the
// format's own shared memory; offset is the byte of a row at which the slice from `value` on begins; decode gives
// sixteen values of a slice and returns the scale they share; places says where in the query's slice the first and
// the last eight of them belong.
layout(constant_id = 2) const uint HEADS = 1;

layout(std430, binding = 1) readonly buffer Queries { float queries[]; };
layout(std430, binding = 2) writeonly buffer Scores { float scores[]; };

struct Shape {
    uint n_heads;
    uint n_kv_heads;
    uint n_kv;
    uint head_dim;
    uint row_stride;  // bytes from one position's row to the next
    uint head_stride; // bytes from one KV head's row to the next
    uint flags;
};

const uint QUERY = SLICE * QUERY_PER_VALUE;
shared float query_slices[HEADS * QUERY];
shared float parts[HEADS * 32];

#include "hadamard.glsl"

float dot8(float values[16], uint from, uint at) {
    float sum = 0.0;
    for (uint i = 0; i < 8; i++) sum += values[from + i] * query_slices[at + i];
    return sum;
}

void score(Shape p) {
    const uint first_row = gl_WorkGroupID.x * ROWS;
    const uint n_rows = min(ROWS, p.n_kv - first_row);
    const uint kv_head = gl_WorkGroupID.y;
    const uint group = p.n_heads / p.n_kv_heads;
    const uint first_head = gl_WorkGroupID.z * HEADS; // among the query heads of this KV head
    const uint query_dim = p.head_dim * QUERY_PER_VALUE;
    const uint block_rows = first_row * p.row_stride + kv_head * p.head_stride;
    const uint block_queries = (kv_head * group + first_head) * query_dim;

    stage(gl_LocalInvocationIndex, gl_WorkGroupSize.x);
    float sums[HEADS];
    for (uint h = 0; h < HEADS; h++) sums[h] = 0.0;
    for (uint value = 0; value < p.head_dim; value += SLICE) {
        const uint end = min(value + SLICE, p.head_dim);
        const uint start = offset(value);
        const uint query_at = value * QUERY_PER_VALUE, query_length = (end - value) * QUERY_PER_VALUE;
        barrier(); // the slice before has been read
        stage_rows(block_rows + start, p.row_stride, offset(end) - start, n_rows);
        for (uint i = gl_LocalInvocationIndex; i < HEADS * QUERY; i += gl_WorkGroupSize.x) {
            const uint h = i / QUERY, at = i % QUERY;
            const bool there = first_head + h < group && at < query_length;
            query_slices[i] = there ? queries[block_queries + h * query_dim + query_at + at] : 0.0;
        }
        barrier();
        if (TURNS_QUERY) hadamard_slices(HEADS);
        if (team_row() < n_rows) {
            for (uint unit = team_lane(); unit < query_length / 16; unit += team_size()) {
                float values[16];
                const float scale = decode(team_row() * SLICE_WORDS, p.flags, query_at / 16, start, unit, values);
                const uvec2 place = places(unit);
                for (uint h = 0; h < HEADS; h++)
                    sums[h] += scale * (dot8(values, 0, h * QUERY + place.x) + dot8(values, 8, h * QUERY + place.y));
            }
        }
    }

    if (team_size() > 1) {
        for (uint h = 0; h < HEADS; h++) parts[h * 32 + gl_LocalInvocationIndex] = sums[h];
        barrier();
        if (team_lane() != 0) return;
        for (uint h = 0; h < HEADS; h++)
            for (uint lane = 1; lane < team_size(); lane++) sums[h] += parts[h * 32 + lane * ROWS + team_row()];
    }
    if (team_row() >= n_rows) return;
    for (uint h = 0; h < HEADS; h++) {
        if (first_head + h >= group) break;
        scores[(kv_head * group + first_head + h) * p.n_kv + first_row + team_row()] = sums[h];
    }
}

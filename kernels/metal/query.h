#pragma once
// What a Format is: QUERY_PER_VALUE, SHARED_FLOATS, Source (buffers of its own) and three functions.
// stage fills its own threadgroup memory; decode gives sixteen values of the row at byte `at` and returns the scale
// they share; places says where in the query the first and the last eight of them belong.
#include "rows.h"

// The product of eight decoded values and eight of the query.
static float dot8(thread const float *v, device const float4 *query) {
    return dot(float4(v[0], v[1], v[2], v[3]), query[0]) + dot(float4(v[4], v[5], v[6], v[7]), query[1]);
}

// Adds the parts of a row's team; `total` is whole on its first thread.
static float team_sum(float part, threadgroup float *parts, uint thread_index) {
    threadgroup float *own = parts + team_row(thread_index) * (team_size() + 1);
    own[team_lane(thread_index)] = part;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float total = 0;
    if (team_lane(thread_index) == 0)
        for (uint lane = 0; lane < team_size(); lane++) total += own[lane];
    return total;
}

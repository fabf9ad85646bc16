// What a Format is: QUERY_PER_VALUE, Shared, Source (buffers of its own) and three functions. stage fills its Shared;
// decode gives sixteen values of the row at byte `at` and returns the scale they share; place says where in the
// query their first and their last eight belong.
#pragma once
#include "rows.cuh"

// The product of eight decoded values and eight of the query.
static __device__ __forceinline__ float dot8(const float *v, const float *__restrict__ query) {
    const float4 low = __ldg((const float4 *)query), high = __ldg((const float4 *)query + 1);
    return v[0] * low.x + v[1] * low.y + v[2] * low.z + v[3] * low.w + v[4] * high.x + v[5] * high.y +
           v[6] * high.z + v[7] * high.w;
}

// Adds the parts of a row's team; the total is whole on its first thread.
template <uint32_t ROWS> static __device__ __forceinline__ float team_sum(float part) {
    using T = Team<ROWS>;
    __shared__ float parts[ROWS][T::SIZE + 1]; // one over, against bank conflicts
    parts[T::row()][T::lane()] = part;
    __syncthreads();
    float total = 0;
    if (T::lane() == 0)
        for (uint32_t lane = 0; lane < T::SIZE; lane++) total += parts[T::row()][lane];
    return total;
}

// The instances of a kernel with ROWS as its template argument.
#define ELIZA_FOR_ROWS(MACRO) MACRO(1) MACRO(2) MACRO(4) MACRO(8) MACRO(32)

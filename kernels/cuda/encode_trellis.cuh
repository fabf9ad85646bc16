// Trellis tiles: Viterbi's algorithm over 512 states, four a thread of 128, in exact integers (docs/formats.md).
#pragma once
#include "encode_rotation.cuh"

static __device__ const float ENCODE_STEPS[6] = {
#include "../tables/trellis-steps.inc"
};
static __device__ const float ENCODE_SAMPLE_SCALES[6] = {
#include "../tables/trellis-sample-scales.inc"
};
static __device__ const int ENCODE_CONTEXTS[6] = {
#include "../tables/trellis-contexts.inc"
};
static __device__ const float ENCODE_PREFIXED_STEP =
#include "../tables/trellis-prefixed-step.inc"
    ;

struct TrellisMemory {
    float z[128], unit[128], path[128];
    int samples[128];
    int survivors[2][256];
    uint16_t states[128];
    uint8_t choices[128 * 256];
    unsigned long long best[4];
};

// The best path of samples[(i + shift) mod count], i < steps; `anchor` as in the codecs, -1 for free ends. `keep` is the
// step whose state is wanted, or -1 for all of them in m.states. Returns the state after `keep`.
template <int RATE>
DEVICE_INLINE int viterbi(TrellisMemory &m, const int8_t *values, int steps, int first, int count, int anchor,
                          int keep) {
    constexpr int GROUPS = 512 >> RATE, PREDECESSORS = 1 << RATE, MASK = PREDECESSORS - 1;
    const int t = threadIdx.x;
    int value[4], bias[4], cost[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        value[i] = values[4 * t + i];
        bias[i] = 2 * value[i] * value[i];
    }
    for (int j = t; j < GROUPS; j += 128) {
        m.survivors[0][j] = anchor < 0 || j == anchor ? 0 : 1 << 24;
        m.choices[j] = 0;
    }
    __syncthreads();
    for (int step = 0; step < steps; step++) {
        if (step > 0) {
            int *next = m.survivors[step & 1];
            uint8_t *choices = m.choices + step * GROUPS;
            if (RATE == 1) {
#pragma unroll
                for (int g = 0; g < 2; g++) {
                    const int a = cost[2 * g] * 2, b = cost[2 * g + 1] * 2 | 1, best = a < b ? a : b;
                    next[2 * t + g] = best >> 1;
                    choices[2 * t + g] = (uint8_t)(best & 1);
                }
            } else {
                int best = 0x7fffffff;
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    const int packed = cost[i] * PREDECESSORS | ((4 * t + i) & MASK);
                    best = packed < best ? packed : best;
                }
#pragma unroll
                for (int h = 1; h < PREDECESSORS / 4; h *= 2) {
                    const int other = __shfl_xor_sync(~0u, best, h);
                    best = other < best ? other : best;
                }
                if ((4 * t & MASK) == 0) {
                    const int j = 4 * t / PREDECESSORS;
                    next[j] = best >> RATE;
                    choices[j] = (uint8_t)(best & MASK);
                }
            }
            __syncthreads();
        }
        const int x = m.samples[(first + step) % count];
#pragma unroll
        for (int i = 0; i < 4; i++)
            cost[i] = m.survivors[step & 1][(4 * t + i) & (GROUPS - 1)] + bias[i] - x * value[i];
    }
    // The cheapest last state, the lowest of equal ones: of all, or of those that continue the anchor.
    unsigned long long best = ~0ull;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int s = 4 * t + i;
        const unsigned long long packed = (unsigned long long)(uint32_t)(cost[i] ^ (int)0x80000000) << 32 | (uint32_t)s;
        if ((anchor < 0 || s >> RATE == anchor) && packed < best) best = packed;
    }
#pragma unroll
    for (int h = 1; h < 32; h *= 2) {
        const unsigned long long other = __shfl_xor_sync(~0u, best, h);
        best = other < best ? other : best;
    }
    if (t % 32 == 0) m.best[t / 32] = best;
    __syncthreads();
    if (t == 0) {
        for (int w = 1; w < 4; w++) best = m.best[w] < best ? m.best[w] : best;
        int state = (int)(best & 511);
        for (int step = steps - 1; step >= 0; step--) {
            if (keep < 0) m.states[step] = (uint16_t)state;
            if (step == keep) m.states[0] = (uint16_t)state;
            const int group = state & (GROUPS - 1);
            state = group << RATE | m.choices[step * GROUPS + group];
        }
    }
    __syncthreads();
    const int kept = m.states[0];
    __syncthreads();
    return kept;
}

// A tile of `width` values in m.z to its bytes. Called by 128 threads.
template <int RATE, bool PREFIXED>
DEVICE_INLINE void encode_trellis(TrellisMemory &m, int width, const int8_t *codebooks, uint8_t *to) {
    const int t = threadIdx.x, bytes = PREFIXED ? 52 : 2 + width * RATE / 8;
    const int8_t *values = codebooks + (RATE - 1) * 512;
    rotate_run(m.z, width);
    const TileNorm norm = tile_norm(dot_lanes(m.z, m.z, width), (float)width);
    if (norm.kind != TileKind::values) {
        for (int i = t; i < bytes; i += 128) to[i] = norm.kind == TileKind::overflow && i == 1 ? HALF_NAN >> 8 : 0;
        return;
    }
    if (t < width) {
        m.unit[t] = multiply(m.z[t], norm.inverse);
        const float scaled = multiply(m.unit[t], ENCODE_SAMPLE_SCALES[RATE - 1]);
        m.samples[t] = (int)add(add(scaled, 12582912.0f), -12582912.0f);
    }
    __syncthreads();
    int anchor = -1;
    if (!PREFIXED) {
        const int context = ENCODE_CONTEXTS[RATE - 1];
        anchor = viterbi<RATE>(m, values, 2 * context, 2 * width - context, width, -1, context - 1) >> RATE;
    }
    viterbi<RATE>(m, values, width, 0, width, anchor, -1);
    if (t < width) m.path[t] = values[m.states[t]];
    __syncthreads();
    const float energy = dot_lanes(m.path, m.path, width), along = dot_lanes(m.unit, m.path, width);
    const float fit = energy > 0 ? divide(along, energy) : 0.0f;
    const float step = PREFIXED ? ENCODE_PREFIXED_STEP : ENCODE_STEPS[RATE - 1];
    const uint32_t scale = half_from_float(divide(multiply(norm.rms, fit), step));
    // Byte by byte: the bits of the symbols that fall into it.
    const int bits = PREFIXED ? 8 * 49 : width * RATE;
    for (int i = t; i < bytes - 2; i += 128) {
        uint32_t byte = 0;
        for (int b = 0; b < 8; b++) {
            const int bit = 8 * i + b;
            if (PREFIXED) {
                const int at = bit - (9 - RATE);
                if (at < 0)
                    byte |= (uint32_t)(m.states[0] >> bit & 1) << b;
                else if (at < width * RATE)
                    byte |= (uint32_t)(m.states[at / RATE] >> (9 - RATE + at % RATE) & 1) << b;
            } else {
                const int at = (bit - (9 - RATE) + bits) % bits;
                byte |= (uint32_t)(m.states[at / RATE] >> (9 - RATE + at % RATE) & 1) << b;
            }
        }
        to[2 + i] = (uint8_t)byte;
    }
    if (t < 2) to[t] = (uint8_t)(scale >> (8 * t));
}

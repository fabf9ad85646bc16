#pragma once
// q4_polar: 82 bytes for 128 values, an fp16 length, 64 bytes of nibbles (low one first), a residual's sign.
// Decoded values are in the basis of the Hadamard transform H128.
#include "rows.h"

constant uint USE_RESIDUAL = 1; // flag
constant float RESIDUAL_STEP = 0.04419417382415922f; // 0.5 / sqrt(128)
constant float POLAR_CENTROIDS[16] = {
#include "../tables/q4-polar-centroids.inc"
};
constant uint RESIDUAL_SIGNS[4] = {
#include "../tables/signs-residual.inc"
};

struct Polar {
    enum : uint { QUERY_PER_VALUE = 1, TURNS_QUERY = 0, SHARED_WORDS = 16 };
    struct Source {};

    static void stage(Source, threadgroup uint *memory, uint thread_index) {
        threadgroup float *levels = (threadgroup float *)memory;
        for (uint i = thread_index; i < 16; i += THREADS) levels[i] = POLAR_CENTROIDS[i];
    }

    static uint offset(Source, uint value) { return value / 128 * 82; }

    static uint2 places(uint unit) { return uint2(unit * 16, unit * 16 + 8); }

    static float decode(Source, threadgroup const uint *memory, uint flags, threadgroup const uint *row, uint, uint,
                        uint unit, thread float *v) {
        threadgroup const float *levels = (threadgroup const float *)memory;
        const uint codes = 2 + unit * 8;
        for (uint i = 0; i < 4; i++) {
            const uint four = load16(row, codes + 2 * i);
            v[4 * i] = levels[four & 15];
            v[4 * i + 1] = levels[(four >> 4) & 15];
            v[4 * i + 2] = levels[(four >> 8) & 15];
            v[4 * i + 3] = levels[four >> 12];
        }
        if ((flags & USE_RESIDUAL) != 0) {
            const float residual = (load16(row, 66) & 1) != 0 ? RESIDUAL_STEP : -RESIDUAL_STEP;
            const uint signs = RESIDUAL_SIGNS[unit / 2] >> ((unit % 2) * 16);
            for (uint i = 0; i < 16; i++) v[i] += ((signs >> i) & 1) != 0 ? residual : -residual;
        }
        return half_at(row, 0) * (1.0f / 128.0f);
    }
};

// The same for a query in the original basis: H128 is its own transpose, so it is applied once to each slice of the
// query rather than to every row.
struct PolarOriginal : Polar {
    enum : uint { TURNS_QUERY = 1 };
};

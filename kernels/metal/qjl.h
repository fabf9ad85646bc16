#pragma once
// qjl1_256: 34 bytes for 128 values, 256 signs of their projection and a bf16 norm. The query is its 256-value sketch.
#include "rows.h"

struct Qjl {
    enum : uint { QUERY_PER_VALUE = 2, TURNS_QUERY = 0, SHARED_WORDS = 0 };
    struct Source {};

    static void stage(Source, threadgroup uint *, uint) {}

    static uint offset(Source, uint value) { return value / 128 * 34; }

    static uint2 places(uint unit) { return uint2(unit * 16, unit * 16 + 8); }

    static float decode(Source, threadgroup const uint *, uint, threadgroup const uint *row, uint, uint,
                        uint unit, thread float *v) {
        const uint signs = ~load16(row, unit * 2);
        for (uint i = 0; i < 16; i++) v[i] = as_type<float>(0x3f800000u | ((signs << (31 - i)) & 0x80000000u));
        return bfloat_at(row, 32) * 0.0048957583f; // sqrt(pi / 2) / 256
    }
};

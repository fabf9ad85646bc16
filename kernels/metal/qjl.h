#pragma once
// qjl1_256: 34 bytes for 128 values, 256 signs of their projection and a bf16 norm. The query is its 256-value sketch.
#include "query.h"

struct Qjl {
    enum : uint { QUERY_PER_VALUE = 2, SHARED_FLOATS = 0 };
    struct Source {};

    static void stage(Source, threadgroup float *, uint) {}

    static uint2 places(uint unit) { return uint2(unit * 16, unit * 16 + 8); }

    static float decode(Source, threadgroup const float *, uint, device const ushort *rows, uint at, uint unit,
                        thread float *v) {
        const uint block = at + (unit / 16) * 34;
        const uint signs = load16(rows, block + (unit % 16) * 2);
        for (uint i = 0; i < 16; i++) v[i] = ((signs >> i) & 1) != 0 ? 1.0f : -1.0f;
        return bfloat_at(rows, block + 32) * 0.0048957583f; // sqrt(pi / 2) / 256
    }
};

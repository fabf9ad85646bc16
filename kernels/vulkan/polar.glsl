// q4_polar: 82 bytes for 128 values, an fp16 length, 64 bytes of nibbles (low one first), a residual's sign.
// Decoded values are in the basis of the Hadamard transform H128.
#include "rows.glsl"
#define QUERY_PER_VALUE 1
#ifndef TURNS_QUERY
#define TURNS_QUERY false
#endif
const uint USE_RESIDUAL = 1; // flag

const float CENTROIDS[16] = {
#include "../tables/q4-polar-centroids.inc"
};
const uint RESIDUAL_SIGNS[4] = {
#include "../tables/signs-residual.inc"
};
const float RESIDUAL_STEP = 0.04419417382415922; // 0.5 / sqrt(128)
shared float levels[16];

void stage(uint thread, uint threads) {
    for (uint i = thread; i < 16; i += threads) levels[i] = CENTROIDS[i];
}

uvec2 places(uint unit) { return uvec2(unit * 16, unit * 16 + 8); }

uint offset(uint value) { return value / 128 * 82; }

float decode(uint row, uint flags, uint first_unit, uint start, uint unit, out float values[16]) {
    const uint codes = 2 + unit * 8;
    for (uint i = 0; i < 4; i++) {
        const uint four = load16(row, codes + 2 * i);
        values[4 * i] = levels[four & 15];
        values[4 * i + 1] = levels[(four >> 4) & 15];
        values[4 * i + 2] = levels[(four >> 8) & 15];
        values[4 * i + 3] = levels[four >> 12];
    }
    if ((flags & USE_RESIDUAL) != 0) {
        const float residual = (load16(row, 66) & 1) != 0 ? RESIDUAL_STEP : -RESIDUAL_STEP;
        const uint signs = RESIDUAL_SIGNS[unit / 2] >> ((unit % 2) * 16);
        for (uint i = 0; i < 16; i++) values[i] += ((signs >> i) & 1) != 0 ? residual : -residual;
    }
    return half_at(row, 0) * (1.0 / 128.0);
}

#version 450
#extension GL_GOOGLE_include_directive : require
// tbq3: 14 bytes for 32 values, an fp16 scale and a stream of 3-bit codes, lowest bit first.
#include "rows.glsl"
#define QUERY_PER_VALUE 1
#define TURNS_QUERY false

const float CENTROIDS[8] = {
#include "../tables/tbq3-centroids.inc"
};
shared float levels[8];

void stage(uint thread, uint threads) {
    for (uint i = thread; i < 8; i += threads) levels[i] = CENTROIDS[i];
}

uint offset(uint value) { return value / 32 * 14; }

uvec2 places(uint unit) { return uvec2(unit * 16, unit * 16 + 8); }

float decode(uint row, uint flags, uint first_unit, uint start, uint unit, out float values[16]) {
    const uint block = (unit / 2) * 14;
    const uint codes = block + 2 + (unit % 2) * 6; // sixteen codes are 48 bits
    const uint first = load32(row, codes);
    const uint second = (first >> 24) | (load16(row, codes + 4) << 8);
    for (uint i = 0; i < 8; i++) {
        values[i] = levels[(first >> (3 * i)) & 7];
        values[i + 8] = levels[(second >> (3 * i)) & 7];
    }
    return half_at(row, block);
}

#include "score.glsl"
#include "score-main.glsl"

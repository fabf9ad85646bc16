#version 450
#extension GL_GOOGLE_include_directive : require
// tbq3: 14 bytes for 32 values, an fp16 scale and a stream of 3-bit codes, lowest bit first.
#include "rows.glsl"
#define QUERY_PER_VALUE 1

const float CENTROIDS[8] = {
#include "../tables/tbq3-centroids.inc"
};
shared float levels[8];

void stage(uint thread, uint threads) {
    for (uint i = thread; i < 8; i += threads) levels[i] = CENTROIDS[i];
}

uvec2 places(uint unit) { return uvec2(unit * 16, unit * 16 + 8); }

float decode(uint at, uint unit, uint flags, out float values[16]) {
    const uint block = at + (unit / 2) * 14;
    const uint codes = block + 2 + (unit % 2) * 6; // sixteen codes are 48 bits
    const uint first = load32(codes);
    const uint second = (first >> 24) | (load16(codes + 4) << 8);
    for (uint i = 0; i < 8; i++) {
        values[i] = levels[(first >> (3 * i)) & 7];
        values[i + 8] = levels[(second >> (3 * i)) & 7];
    }
    return half_at(block);
}

#include "score.glsl"

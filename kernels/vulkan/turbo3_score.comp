#version 450
#extension GL_GOOGLE_include_directive : require
// turbo3: 14 bytes for 32 values, the block's own fp16 norm, 8 bytes of low bit pairs, 4 bytes of high bits.
#include "rows.glsl"
#define QUERY_PER_VALUE 1
#define TURNS_QUERY false

const float CENTROIDS[8] = {
#include "../tables/turbo3-centroids.inc"
};
shared float levels[8];

void stage(uint thread, uint threads) {
    for (uint i = thread; i < 8; i += threads) levels[i] = CENTROIDS[i];
}

uint offset(uint value) { return value / 32 * 14; }

uvec2 places(uint unit) { return uvec2(unit * 16, unit * 16 + 8); }

float decode(uint row, uint flags, uint first_unit, uint start, uint unit, out float values[16]) {
    const uint block = (unit / 2) * 14;
    const uint low = load32(row, block + 2 + (unit % 2) * 4);
    const uint high = load16(row, block + 10 + (unit % 2) * 2);
    for (uint i = 0; i < 16; i++) values[i] = levels[((low >> (2 * i)) & 3) | (((high >> i) & 1) << 2)];
    return half_at(row, block);
}

#include "score.glsl"
#include "score-main.glsl"

#version 450
#extension GL_GOOGLE_include_directive : require
// turbo3: 14 bytes for 32 values, the block's own fp16 norm, 8 bytes of low bit pairs, 4 bytes of high bits.
#include "rows.glsl"
#define QUERY_PER_VALUE 1

const float CENTROIDS[8] = {
#include "../tables/turbo3-centroids.inc"
};
shared float levels[8];

void stage(uint thread, uint threads) {
    for (uint i = thread; i < 8; i += threads) levels[i] = CENTROIDS[i];
}

uvec2 places(uint unit) { return uvec2(unit * 16, unit * 16 + 8); }

float decode(uint at, uint unit, uint flags, out float values[16]) {
    const uint block = at + (unit / 2) * 14;
    const uint low = load32(block + 2 + (unit % 2) * 4);
    const uint high = load16(block + 10 + (unit % 2) * 2);
    for (uint i = 0; i < 16; i++) values[i] = levels[((low >> (2 * i)) & 3) | (((high >> i) & 1) << 2)];
    return half_at(block);
}

#include "score.glsl"

#version 450
#extension GL_GOOGLE_include_directive : require
// turbo4: 18 bytes for 32 values, an fp16 scale and 16 bytes whose low nibbles come first.
#include "rows.glsl"
#define QUERY_PER_VALUE 1
#define TURNS_QUERY false

const float CENTROIDS[16] = {
#include "../tables/turbo4-centroids.inc"
};
shared float levels[16];

void stage(uint thread, uint threads) {
    for (uint i = thread; i < 16; i += threads) levels[i] = CENTROIDS[i];
}

uint offset(uint value) { return value / 32 * 18; }

uvec2 places(uint unit) {
    const uint place = (unit / 2) * 32 + (unit % 2) * 8;
    return uvec2(place, place + 16);
}

float decode(uint row, uint flags, uint first_unit, uint start, uint unit, out float values[16]) {
    const uint block = (unit / 2) * 18;
    const uint codes = block + 2 + (unit % 2) * 8;
    for (uint i = 0; i < 4; i++) {
        const uint pair = load16(row, codes + 2 * i);
        values[2 * i] = levels[pair & 15];
        values[2 * i + 1] = levels[(pair >> 8) & 15];
        values[2 * i + 8] = levels[(pair >> 4) & 15];
        values[2 * i + 9] = levels[pair >> 12];
    }
    return half_at(row, block);
}

#include "score.glsl"
#include "score-main.glsl"

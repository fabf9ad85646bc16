#version 450
#extension GL_GOOGLE_include_directive : require
// Trellis-coded tiles, 1 to 6 bits a symbol and 32, 64 or 128 values a tile, mixed freely within a row. A tile is an
// fp16 scale and a stream in which the nine bits at bit k * t name the state after sample t, an index of a codebook.
#include "rows.glsl"
#define QUERY_PER_VALUE 1
#define TURNS_QUERY false

layout(std430, binding = 3) readonly buffer Codebooks { uint codebooks[]; }; // int8 [6][512], by bits a symbol
// For each unit of sixteen values of a row: x the byte of its tile, y its place in the tile, z bits a symbol, with 256
// added where the stream goes on at its beginning (the last unit of a tail-biting tile), w the codebook's step.
// One more at the end: x the bytes of a row.
layout(std430, binding = 4) readonly buffer Units { uvec4 units[]; };
shared uint codebook_words[6 * 128];

void stage(uint thread, uint threads) {
    for (uint i = thread; i < 6 * 128; i += threads) codebook_words[i] = codebooks[i];
}

uint offset(uint value) { return units[value / 16].x; }

uvec2 places(uint unit) { return uvec2(unit * 16, unit * 16 + 8); }

float codebook_value(uint k, uint state) {
    const uint word = codebook_words[(k - 1) * 128 + state / 4];
    return float(bitfieldExtract(int(word), int(state % 4) * 8, 8));
}

float decode(uint row, uint flags, uint first_unit, uint start, uint unit, out float values[16]) {
    const uvec4 u = units[first_unit + unit];
    const uint k = u.z & 255;
    const uint tile = u.x - start, stream = tile + 2;
    uint from = stream + 2 * k * u.y;
    uint bits = 0, have = 0;
    for (uint i = 0, word = 0; i < 16; i++) {
        if (have < 9) {
            if (word == k && u.z >= 256) from = stream - 2 * k;
            bits |= load16(row, from + 2 * word) << have;
            have += 16;
            word++;
        }
        values[i] = codebook_value(k, bits & 511);
        bits >>= k;
        have -= k;
    }
    return half_at(row, tile) * uintBitsToFloat(u.w);
}

#include "score.glsl"
#include "score-main.glsl"

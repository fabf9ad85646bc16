// qjl1_256: 34 bytes for 128 values, 256 signs of their projection and a bf16 norm. The query is its 256-value sketch.
#include "rows.glsl"
#define QUERY_PER_VALUE 2
#define TURNS_QUERY false
const float SCALE = 0.0048957583; // sqrt(pi / 2) / 256

void stage(uint thread, uint threads) {}

uint offset(uint value) { return value / 128 * 34; }

uvec2 places(uint unit) { return uvec2(unit * 16, unit * 16 + 8); }

float decode(uint row, uint flags, uint first_unit, uint start, uint unit, out float values[16]) {
    const uint signs = ~load16(row, unit * 2);
    for (uint i = 0; i < 16; i++) values[i] = uintBitsToFloat(0x3f800000u | ((signs << (31 - i)) & 0x80000000u));
    return bfloat_at(row, 32) * SCALE;
}

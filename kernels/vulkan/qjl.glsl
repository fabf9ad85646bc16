// qjl1_256: 34 bytes for 128 values, 256 signs of their projection and a bf16 norm. The query is its 256-value sketch.
#include "rows.glsl"
#define QUERY_PER_VALUE 2
const float SCALE = 0.0048957583; // sqrt(pi / 2) / 256

void stage(uint thread, uint threads) {}

uvec2 places(uint unit) { return uvec2(unit * 16, unit * 16 + 8); }

float decode(uint at, uint unit, uint flags, out float values[16]) {
    const uint block = at + (unit / 16) * 34;
    const uint signs = load16(block + (unit % 16) * 2);
    for (uint i = 0; i < 16; i++) values[i] = ((signs >> i) & 1) != 0 ? 1.0 : -1.0;
    return bfloat_at(block + 32) * SCALE;
}

#version 450
#extension GL_GOOGLE_include_directive : require
// Encodes cached rows; kernels/portable/set_rows.inc says how.
#include "portable.glsl"
#include "exact-arithmetic.glsl"
#define THREADS 128u
#define HEAD_DIM p.head_dim
layout(local_size_x = 128) in;

#include "../portable/cache_formats.inc"
#include "../portable/set_rows_params.inc"

layout(std430, binding = 0) readonly buffer Given { uint given[]; };
layout(std430, binding = 1) readonly buffer Ids { uint ids[]; };
layout(std430, binding = 2) buffer Rows { uint16_t rows[]; };
layout(std430, binding = 3) readonly buffer Codebooks { uint codebooks[]; }; // int8 [6][512], by bits a symbol
layout(std430, binding = 4) readonly buffer Projection { float projection[]; };
layout(push_constant) uniform Params { SetRowsParams p; };

void store(uint pair, uint bits) { rows[pair] = uint16_t(bits); }

shared float turned[128], unit[128], level[128], lanes[128];
shared uint codes[128], states[128], chosen[256], choices[1024];
shared int samples[128], survivors[256], partial[256];
int costs[4];
uint span, tile_kind;
float energy, rms;

#include "../portable/cache_layout.inc"
#include "../portable/rotation.inc"
#include "../portable/set_rows.inc"

void main() { run_set_rows(); }

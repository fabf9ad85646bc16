#version 450
#extension GL_GOOGLE_include_directive : require
// Decodes cached rows; kernels/portable/get_rows.inc says how.
#include "portable.glsl"
#define THREADS 64u
#define HEAD_DIM p.head_dim
layout(local_size_x = 64) in;

#include "../portable/cache_formats.inc"
#include "../portable/get_rows_params.inc"

layout(std430, binding = 0) readonly buffer Rows { uint16_t rows[]; };
layout(std430, binding = 1) readonly buffer Ids { uint ids[]; };
layout(std430, binding = 2) writeonly buffer Result { uint result[]; };
layout(std430, binding = 3) readonly buffer Codebooks { uint codebooks[]; }; // int8 [6][512], by bits a symbol
layout(std430, binding = 4) readonly buffer Projection { float projection[]; };
layout(push_constant) uniform Params { GetRowsParams p; };

uint load(uint side, uint pair) { return uint(rows[pair]); }

shared float turned[1024];
shared float levels[16];
shared uint codebook_words[768];
float unit_values[16];

#include "../portable/cache_rows.inc"
#include "../portable/rotation.inc"
#include "../portable/half_bits.inc"
#include "../portable/get_rows.inc"

void main() { run_get_rows(); }

#version 450
#extension GL_GOOGLE_include_directive : require
// qjl1_256 keys, q4_polar values.
#define V_FORMAT FORMAT_Q4_POLAR
#define READS_RESIDUAL (p.use_qjl != 0u)
#include "fused_attention.glsl"

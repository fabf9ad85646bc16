#version 450
#extension GL_GOOGLE_include_directive : require
// qjl1_256 keys, tbq3 values.
#define V_FORMAT FORMAT_TBQ3
#include "fused_attention.glsl"

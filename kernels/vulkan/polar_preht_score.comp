#version 450
#extension GL_GOOGLE_include_directive : require
// scores[head][t]: q4_polar rows against queries that H128 has been applied to.
#include "polar.glsl"
#include "score.glsl"
#include "score-main.glsl"

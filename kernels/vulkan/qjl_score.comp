#version 450
#extension GL_GOOGLE_include_directive : require
// scores[head][t]: qjl1_256 rows against sketched queries.
#include "qjl.glsl"
#include "score.glsl"
#include "score-main.glsl"

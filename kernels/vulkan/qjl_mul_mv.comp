#version 450
#extension GL_GOOGLE_include_directive : require
// y[r]: every qjl1_256 row of a matrix against one sketch. n_cols counts values before projection.
#include "qjl.glsl"
#include "score.glsl"
#include "mul-mv-main.glsl"

#version 450
#extension GL_GOOGLE_include_directive : require
// y = A x for a matrix of q4_polar rows and a vector in the original basis.
// H128 is its own transpose: it is applied once to each slice of the query rather than to every row.
#define TURNS_QUERY true
#include "polar.glsl"
#include "score.glsl"
#include "mul-mv-main.glsl"

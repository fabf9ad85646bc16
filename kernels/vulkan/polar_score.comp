#version 450
#extension GL_GOOGLE_include_directive : require
// scores[head][t]: q4_polar rows against queries in the original basis.
// H128 is its own transpose: it is applied once to each slice of the query rather than to every row.
#define TURNS_QUERY true
#include "polar.glsl"
#include "score.glsl"
#include "score-main.glsl"

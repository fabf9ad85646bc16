// The query, and its product with half of a unit of sixteen decoded values.
layout(std430, binding = 1) readonly buffer Queries { vec4 queries[]; };

float dot8(float values[16], uint from, uint place) {
    const vec4 low = queries[place / 4], high = queries[place / 4 + 1];
    return values[from] * low.x + values[from + 1] * low.y + values[from + 2] * low.z + values[from + 3] * low.w +
           values[from + 4] * high.x + values[from + 5] * high.y + values[from + 6] * high.z +
           values[from + 7] * high.w;
}

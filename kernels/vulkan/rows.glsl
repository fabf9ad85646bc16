// Compressed rows as a buffer of pairs of bytes: every format's parts begin at even offsets.
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint ROWS = 1; // rows that one workgroup works on

layout(std430, binding = 0) readonly buffer Rows { uint16_t rows[]; };

// `at` is a byte offset. Where the second pair does not exist the upper half must not be used.
uint load16(uint at) { return uint(rows[at >> 1]); }
uint load32(uint at) { return load16(at) | (load16(at + 2) << 16); }

float half_at(uint at) { return unpackHalf2x16(load16(at)).x; }
float bfloat_at(uint at) { return uintBitsToFloat(load16(at) << 16); }

// Threads that share a row, a thread's place among them, and its row in the workgroup.
uint team_size() { return gl_WorkGroupSize.x / ROWS; }
uint team_lane() { return gl_LocalInvocationIndex % team_size(); }
uint team_row() { return gl_LocalInvocationIndex / team_size(); }

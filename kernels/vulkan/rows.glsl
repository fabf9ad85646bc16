// Compressed rows, and the threads that share them.
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint ROWS = 1; // rows that one workgroup works on

const uint SLICE = 128;      // values of a row that are worked on at a time
const uint SLICE_WORDS = 25; // at most 98 bytes; an odd pitch keeps rows in different banks

// Pairs of bytes: every format's parts begin at even offsets.
layout(std430, binding = 0) readonly buffer Rows { uint16_t rows[]; };
shared uint row_slices[ROWS * SLICE_WORDS];

// `row` is where a slice begins among row_slices, `at` a byte of it.
uint load16(uint row, uint at) { return (row_slices[row + at / 4] >> ((at & 2) * 8)) & 0xffff; }
uint load32(uint row, uint at) { return load16(row, at) | (load16(row, at + 2) << 16); }
float half_at(uint row, uint at) { return unpackHalf2x16(load16(row, at)).x; }
float bfloat_at(uint row, uint at) { return uintBitsToFloat(load16(row, at) << 16); }

// A thread a row from 32 rows on, else a team of threads a row.
uint team_size() { return gl_WorkGroupSize.x / ROWS; }
uint team_lane() { return gl_LocalInvocationIndex / ROWS; }
uint team_row() { return gl_LocalInvocationIndex % ROWS; }

// Brings `bytes` bytes of each of `count` rows to shared memory, neighbouring threads neighbouring words.
void stage_rows(uint from, uint row_stride, uint bytes, uint count) {
    const uint words = (bytes + 3) / 4;
    for (uint i = gl_LocalInvocationIndex; i < count * words; i += gl_WorkGroupSize.x) {
        const uint row = i / words, word = i % words;
        const uint pair = (from + row * row_stride) / 2 + word * 2;
        uint value = uint(rows[pair]);
        if (word * 4 + 2 < bytes) value |= uint(rows[pair + 1]) << 16;
        row_slices[row * SLICE_WORDS + word] = value;
    }
}

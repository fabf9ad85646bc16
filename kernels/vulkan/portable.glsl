// What the files of kernels/portable are written in, for GLSL.
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_control_flow_attributes : require
#define FN
#define ROLLED [[dont_unroll]] // nothing is gained by unrolling it, and compilers are slow
#define CONSTANT(TYPE, NAME, VALUE) const TYPE NAME = VALUE;
#define TABLE(TYPE, NAME, COUNT) const TYPE NAME[COUNT] =
// A binding of more than 4 GiB does not exist, and pairs of bytes are counted.
#define INDEX uint
#define BARRIER() barrier()
#define THREAD gl_LocalInvocationIndex
#define GROUP gl_WorkGroupID.x
#define GROUPS gl_NumWorkGroups.x
#define as_float(BITS) uintBitsToFloat(BITS)
#define as_bits(VALUE) floatBitsToUint(VALUE)

float half_float(uint bits) { return unpackHalf2x16(bits).x; }
// Pairs of bytes in a stride of bytes.
uint pairs(uint low, uint high) { return low >> 1 | high << 31; }

#if defined(__x86_64__) || defined(_M_X64)

#include "lanes_avx512.h"
#include "kernel_set.h"

const kernel_set kernels_avx512 = KERNEL_SET;

#else

typedef int no_avx512_here; // an empty file is not C

#endif

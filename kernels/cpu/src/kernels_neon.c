#if defined(__aarch64__)

#include "lanes_neon.h"
#include "kernel_set.h"

const kernel_set kernels_neon = KERNEL_SET;

#else

typedef int no_neon_here; // an empty file is not C

#endif

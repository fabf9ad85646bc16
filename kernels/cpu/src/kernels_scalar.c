#define KV_SCALAR
#include "lanes_scalar.h"
#include "kernel_set.h"

const kernel_set kernels_scalar = KERNEL_SET;

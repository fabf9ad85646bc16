#pragma once
#include "cuda_runtime.h"

using __half = _Float16;
inline float __half2float(__half value) { return value; }
inline __half __float2half(float value) { return (__half)value; }
inline __half __ushort_as_half(unsigned short bits) {
    __half value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

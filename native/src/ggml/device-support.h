// What a device can do with the K and V of a cache: format x head size x operation x device, in one table. Sessions ask
// it before a context is allocated, a backend's supports_op asks it, and native/tests/device-support.cpp holds it
// against what the device computes.
#ifndef ELIZA_GGML_DEVICE_SUPPORT_H
#define ELIZA_GGML_DEVICE_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum eliza_cache_operation {
    ELIZA_CACHE_WRITE,        // SET_ROWS: rows of float32 are encoded
    ELIZA_CACHE_READ,         // CPY: rows are decoded to float32
    ELIZA_CACHE_SHIFT,        // keys are decoded, turned by RoPE and encoded again
    ELIZA_CACHE_ATTEND,       // FLASH_ATTN_EXT
    ELIZA_CACHE_ATTEND_EXACT, // FLASH_ATTN_EXT with the rows of an exact window beside the coded ones
    ELIZA_CACHE_OPERATIONS,
} eliza_cache_operation;

typedef enum eliza_cache_answer {
    ELIZA_CACHE_SUPPORTED,
    ELIZA_CACHE_NO_TYPE,      // the device has no row for this type
    ELIZA_CACHE_NO_OPERATION, // the device has the type, and not this operation on it
    ELIZA_CACHE_NO_SIDE,      // the type stores keys only
    ELIZA_CACHE_NO_HEAD_SIZE, // heads of this size cannot be cut into the type's tiles
} eliza_cache_answer;

typedef struct eliza_device_support {
    const char *device; // "cpu"
    int32_t type;       // ggml type id
    int32_t tile;       // head sizes are multiples of it, or with whole_head equal to it
    bool whole_head;
    bool keys, values;
    uint32_t operations; // bit n: operation n; ELIZA_CACHE_SHIFT concerns keys alone
} eliza_device_support;

// Every row, in a fixed order: llama.cpp's own types, then ours.
const eliza_device_support *eliza_device_support_rows(size_t *count);

// side: 'K' or 'V'; head_dim: values of one head.
eliza_cache_answer eliza_device_supports(const char *device, eliza_cache_operation operation, char side, int32_t type,
                                         int32_t head_dim);

// "SET_ROWS", "CPY", "K_SHIFT", "FLASH_ATTN_EXT", "FLASH_ATTN_EXT_EXACT".
const char *eliza_cache_operation_name(eliza_cache_operation operation);

#ifdef __cplusplus
}
#endif

#endif

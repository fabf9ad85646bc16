#include "device-support.h"

#include <string.h>

#include "eliza_kv_types.h"
#include "ggml.h"

#define DOES(operation) (1u << ELIZA_CACHE_##operation)
#define CODES (DOES(WRITE) | DOES(READ))
#define ATTENDS (DOES(ATTEND) | DOES(ATTEND_EXACT))

// A type of llama.cpp's: its rows need whole blocks, and our attention, which alone knows the exact window, 16 values.
#define CPU_STOCK(type, block, exact)                                                                                  \
    {"cpu", GGML_TYPE_##type, block, false, true, true, CODES | DOES(SHIFT) | DOES(ATTEND)},                           \
        {"cpu", GGML_TYPE_##type, exact, false, true, true, DOES(ATTEND_EXACT)},

// whole_head, keys, values, operations by the kind of a format
#define KIND_ROTATED false, true, true, CODES | DOES(SHIFT) | ATTENDS
#define KIND_MIXED true, true, false, CODES | DOES(SHIFT) | ATTENDS
#define KIND_SKETCHED false, true, false, CODES | ATTENDS
#define CPU_OURS(format, id, cache_name, tile, bytes, query, kind) {"cpu", ELIZA_KV_TYPE_##id, tile, KIND_##kind},

static const eliza_device_support ROWS[] = {CPU_STOCK(F32, 1, 16) CPU_STOCK(F16, 1, 16) CPU_STOCK(BF16, 1, 16)
                                                CPU_STOCK(Q8_0, 32, 32) CPU_STOCK(Q5_1, 32, 32) CPU_STOCK(Q5_0, 32, 32)
                                                    CPU_STOCK(Q4_1, 32, 32) CPU_STOCK(Q4_0, 32, 32)
                                                        CPU_STOCK(IQ4_NL, 32, 32) ELIZA_KV_EACH(CPU_OURS)};

enum { ROW_COUNT = sizeof ROWS / sizeof ROWS[0] };

const eliza_device_support *eliza_device_support_rows(size_t *count) {
    *count = ROW_COUNT;
    return ROWS;
}

eliza_cache_answer eliza_device_supports(const char *device, eliza_cache_operation operation, char side, int32_t type,
                                         int32_t head_dim) {
    // The answer of the row that comes nearest.
    eliza_cache_answer nearest = ELIZA_CACHE_NO_TYPE;
    for (size_t i = 0; i < ROW_COUNT; ++i) {
        const eliza_device_support *row = &ROWS[i];
        if (row->type != type || strcmp(row->device, device) != 0) continue;
        const bool fits = row->whole_head ? head_dim == row->tile : head_dim > 0 && head_dim % row->tile == 0;
        eliza_cache_answer answer = ELIZA_CACHE_SUPPORTED;
        if ((row->operations >> operation & 1) == 0) {
            answer = ELIZA_CACHE_NO_OPERATION;
        } else if (side == 'K' ? !row->keys : !row->values || operation == ELIZA_CACHE_SHIFT) {
            answer = ELIZA_CACHE_NO_SIDE;
        } else if (!fits) {
            answer = ELIZA_CACHE_NO_HEAD_SIZE;
        }
        if (answer == ELIZA_CACHE_SUPPORTED) return answer;
        if (answer > nearest) nearest = answer;
    }
    return nearest;
}

const char *eliza_cache_operation_name(eliza_cache_operation operation) {
    static const char *const NAMES[ELIZA_CACHE_OPERATIONS] = {
        [ELIZA_CACHE_WRITE] = "SET_ROWS",
        [ELIZA_CACHE_READ] = "CPY",
        [ELIZA_CACHE_SHIFT] = "K_SHIFT",
        [ELIZA_CACHE_ATTEND] = "FLASH_ATTN_EXT",
        [ELIZA_CACHE_ATTEND_EXACT] = "FLASH_ATTN_EXT_EXACT",
    };
    return NAMES[operation];
}

#include "isa.h"

#include <string.h>

#include "eliza_kv.h"

static const char *const NAMES[ELIZA_KV_ISA_COUNT] = {"scalar", "avx2", "avx512", "neon"};

static bool supports(enum eliza_kv_isa_id isa) {
    if (isa == ELIZA_KV_SCALAR) return true;
#if defined(__x86_64__) || defined(_M_X64)
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                      __builtin_cpu_supports("f16c") && __builtin_cpu_supports("bmi2");
    if (isa == ELIZA_KV_AVX2) return avx2;
    if (isa == ELIZA_KV_AVX512) {
        return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vnni");
    }
#elif defined(__aarch64__)
    if (isa == ELIZA_KV_NEON) return true;
#endif
    return false;
}

static enum eliza_kv_isa_id best(void) {
    int isa = ELIZA_KV_ISA_COUNT - 1;
    while (!supports((enum eliza_kv_isa_id)isa)) isa -= 1;
    return (enum eliza_kv_isa_id)isa;
}

// Written once with the same value by whoever comes first, then only by tests.
static int chosen = -1;

enum eliza_kv_isa_id eliza_kv_isa_id(void) {
    int isa = __atomic_load_n(&chosen, __ATOMIC_RELAXED);
    if (isa < 0) {
        isa = (int)best();
        __atomic_store_n(&chosen, isa, __ATOMIC_RELAXED);
    }
    return (enum eliza_kv_isa_id)isa;
}

const char *eliza_kv_isa(void) { return NAMES[eliza_kv_isa_id()]; }

bool eliza_kv_set_isa(const char *name) {
    for (int isa = 0; isa < ELIZA_KV_ISA_COUNT; ++isa) {
        if (strcmp(NAMES[isa], name) == 0 && supports((enum eliza_kv_isa_id)isa)) {
            __atomic_store_n(&chosen, isa, __ATOMIC_RELAXED);
            return true;
        }
    }
    return false;
}

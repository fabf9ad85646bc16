#include "isa.h"

#include <string.h>

#include "eliza_kv.h"

static const char *const NAMES[] = {"scalar", "avx2"};

static enum eliza_kv_isa_id best(void) {
#if defined(__x86_64__) || defined(_M_X64)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return ELIZA_KV_AVX2;
#endif
    return ELIZA_KV_SCALAR;
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
    for (int isa = 0; isa <= (int)best(); ++isa) {
        if (strcmp(NAMES[isa], name) == 0) {
            __atomic_store_n(&chosen, isa, __ATOMIC_RELAXED);
            return true;
        }
    }
    return false;
}

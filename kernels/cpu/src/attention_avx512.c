#if defined(__x86_64__) || defined(_M_X64)

#define KV_CODED_TILES "attention_few_avx512.h"
#include "lanes_avx512.h"
#include "attention_lanes_avx512.h"
#include "attention_set.h"

void attention_avx512(const eliza_attention *attention, const attention_plan *plan, uint8_t *partials, uint8_t *work,
                      const eliza_attention_threads *threads) {
    attention_run(attention, plan, partials, work, threads);
}

#else

typedef int no_avx512_attention_here; // an empty file is not C

#endif

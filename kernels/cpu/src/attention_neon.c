#if defined(__aarch64__)

#include "lanes_neon.h"
#include "attention_lanes_neon.h"
#include "attention_set.h"

void attention_neon(const eliza_attention *attention, const attention_plan *plan, uint8_t *partials, uint8_t *work,
                    const eliza_attention_threads *threads) {
    attention_run(attention, plan, partials, work, threads);
}

#else

typedef int no_neon_attention_here; // an empty file is not C

#endif

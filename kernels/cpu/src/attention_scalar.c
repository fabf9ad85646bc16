#define KV_SCALAR
#include "lanes_scalar.h"
#include "attention_lanes_scalar.h"
#include "attention_set.h"

void attention_scalar(const eliza_attention *attention, const attention_plan *plan, uint8_t *partials, uint8_t *work,
                      const eliza_attention_threads *threads) {
    attention_run(attention, plan, partials, work, threads);
}

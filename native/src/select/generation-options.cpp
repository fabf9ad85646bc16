#include "select/generation-options.h"

#include "select/llm-backend.h"

namespace eliza {

GenerationOptions generation_options(const eliza_llm_stream_config_t &config, const StreamOptions &options) {
    GenerationOptions generation;
    generation.max_tokens = config.max_tokens;
    generation.temperature = config.temperature;
    generation.top_p = config.top_p;
    generation.top_k = config.top_k;
    generation.min_p = options.min_p;
    generation.repeat_penalty = config.repeat_penalty;
    generation.penalty_last_n = options.penalty_last_n;
    if (config.gbnf_grammar != nullptr) generation.grammar = config.gbnf_grammar;
    if (options.seed_given) generation.seed = options.seed;
    return generation;
}

} // namespace eliza

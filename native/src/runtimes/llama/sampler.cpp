#include "runtimes/llama/sampler.h"

namespace eliza {

SamplerPtr make_sampler(const eliza_llm_stream_config_t &config, const StreamOptions &options, int32_t n_vocab) {
    SamplerPtr chain(llama_sampler_chain_init(llama_sampler_chain_default_params()));
    const auto add = [&](llama_sampler *sampler) { llama_sampler_chain_add(chain.get(), sampler); };
    if (config.repeat_penalty > 0.0f && config.repeat_penalty != 1.0f && options.penalty_last_n > 0) {
        add(llama_sampler_init_penalties(n_vocab, options.penalty_last_n, config.repeat_penalty, 0.0f, 0.0f));
    }
    if (config.temperature <= 0.0f) {
        add(llama_sampler_init_greedy());
        return chain;
    }
    if (config.top_k > 0) add(llama_sampler_init_top_k(config.top_k));
    if (config.top_p > 0.0f && config.top_p < 1.0f) add(llama_sampler_init_top_p(config.top_p, 1));
    if (options.min_p > 0.0f) add(llama_sampler_init_min_p(options.min_p, 1));
    add(llama_sampler_init_temp(config.temperature));
    add(llama_sampler_init_dist(options.seed));
    return chain;
}

} // namespace eliza

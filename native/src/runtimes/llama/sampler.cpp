#include "runtimes/llama/sampler.h"

#include <random>

namespace eliza {

Sampler::Sampler(const GenerationOptions &options, int32_t n_vocab)
    : n_vocab_(n_vocab), draws_(llama_sampler_init_dist(options.seed.value_or(std::random_device{}()))) {
    build(options);
}

void Sampler::build(const GenerationOptions &options) {
    chain_.reset(llama_sampler_chain_init(llama_sampler_chain_default_params()));
    const auto add = [&](llama_sampler *sampler) { llama_sampler_chain_add(chain_.get(), sampler); };
    if (options.repeat_penalty > 0.0f && options.repeat_penalty != 1.0f && options.penalty_last_n > 0) {
        add(llama_sampler_init_penalties(n_vocab_, options.penalty_last_n, options.repeat_penalty, 0.0f, 0.0f));
    }
    chain_draws_ = options.temperature > 0.0f;
    if (!chain_draws_) {
        add(llama_sampler_init_greedy());
        return;
    }
    if (options.top_k > 0) add(llama_sampler_init_top_k(options.top_k));
    if (options.top_p > 0.0f && options.top_p < 1.0f) add(llama_sampler_init_top_p(options.top_p, 1));
    if (options.min_p > 0.0f) add(llama_sampler_init_min_p(options.min_p, 1));
    add(llama_sampler_init_temp(options.temperature));
    add(draws_.release());
}

void Sampler::configure(const GenerationOptions &options, const std::vector<llama_token> &seen) {
    if (chain_draws_) draws_.reset(llama_sampler_chain_remove(chain_.get(), llama_sampler_chain_n(chain_.get()) - 1));
    if (options.seed) draws_.reset(llama_sampler_init_dist(*options.seed));
    build(options);
    for (const llama_token token : seen) accept(token);
}

void Sampler::restart(const std::vector<llama_token> &seen) {
    llama_sampler_reset(chain_.get());
    if (draws_ != nullptr) llama_sampler_reset(draws_.get());
    for (const llama_token token : seen) accept(token);
}

} // namespace eliza

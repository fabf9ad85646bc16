#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "llama.h"
#include "select/generation-options.h"

namespace eliza {

// Repeat penalty, then top-k, top-p and min-p, temperature and a seeded draw; greedy where temperature <= 0.
class Sampler {
  public:
    // The seed is drawn from the system where the options have none.
    Sampler(const GenerationOptions &options, int32_t n_vocab);

    // Other options from here on. Without a seed of theirs the draws go on where they are. `seen`: the sequence so far.
    void configure(const GenerationOptions &options, const std::vector<llama_token> &seen);
    // From the logits at this index of the context's last batch.
    llama_token sample(llama_context *context, int32_t at) { return llama_sampler_sample(chain_.get(), context, at); }
    void accept(llama_token token) { llama_sampler_accept(chain_.get(), token); }
    // As new, with draws from the seed on, after a sequence of these tokens.
    void restart(const std::vector<llama_token> &seen);

  private:
    struct Deleter {
        void operator()(llama_sampler *sampler) const { llama_sampler_free(sampler); }
    };
    using SamplerPtr = std::unique_ptr<llama_sampler, Deleter>;

    void build(const GenerationOptions &options);

    const int32_t n_vocab_;
    SamplerPtr chain_;
    SamplerPtr draws_; // while the chain is greedy
    bool chain_draws_ = false;
};

} // namespace eliza

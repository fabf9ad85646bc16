#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtimes/llama/grammar.h"
#include "select/generation-options.h"

namespace eliza {

// Draws tokens, in this order: logit bias; repeat, presence and frequency penalty; DRY; then greedy where the temperature
// is <= 0, else top-k, typical, top-p, min-p, XTC, temperature and a seeded draw, or temperature and mirostat. A grammar
// comes last: where it refuses what was drawn, all tokens that it refuses are left out and the draw is made again.
class Sampler {
  public:
    // The seed is drawn from the system where the options have none. Throws INVALID_ARGUMENT for a grammar or a logit bias
    // that does not fit the vocabulary.
    Sampler(const GenerationOptions &options, const llama_vocab *vocab);

    // Throws as the constructor does; to be told before a generation, on the caller's thread.
    static void check(const GenerationOptions &options, const llama_vocab *vocab);
    // Other options from here on. Without a seed of theirs the draws go on where they are. `seen`: the sequence so far.
    void configure(const GenerationOptions &options, const std::vector<llama_token> &seen);
    // From the logits of one token of the context's last batch; LLAMA_TOKEN_NULL where the grammar lets none come.
    llama_token sample(const float *logits);
    // JSON of natural logarithms of the model's own probabilities, before any sampler: {"token", "logprob", "top": [[id,
    // logprob]...]}, likeliest first; empty unless asked for.
    std::string logprobs(const float *logits, llama_token token) const;
    // A token of the prompt.
    void accept(llama_token token) { llama_sampler_accept(chain_.get(), token); }
    // As new, with draws from the seed on, after a sequence of these tokens.
    void restart(const std::vector<llama_token> &seen);

  private:
    void build(const GenerationOptions &options);
    void add(llama_sampler *sampler) { llama_sampler_chain_add(chain_.get(), sampler); }
    void fill(const float *logits);
    llama_token draw();

    const llama_vocab *vocab_;
    const int32_t n_vocab_;
    SamplerPtr chain_;
    SamplerPtr draws_; // while the chain does not draw from it
    bool chain_draws_ = false;
    std::optional<Grammar> grammar_;
    int32_t logprobs_ = -1;
    std::vector<llama_token_data> candidates_;
};

} // namespace eliza

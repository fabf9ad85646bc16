#pragma once

#include <memory>
#include <string>
#include <vector>

#include "llama.h"

namespace eliza {

struct SamplerDeleter {
    void operator()(llama_sampler *sampler) const { llama_sampler_free(sampler); }
};
using SamplerPtr = std::unique_ptr<llama_sampler, SamplerDeleter>;

// A text held to a GBNF grammar, token by token.
class Grammar {
  public:
    // Throws INVALID_ARGUMENT for a grammar that llama.cpp does not parse, that refers to itself on the left, or that is
    // beyond 256 KiB, 4,000 rules or 64 brackets one inside the other.
    Grammar(const llama_vocab *vocab, const std::string &text);

    bool allows(llama_token token) const;
    // Gives every token that may not come next a logit of minus infinity. False if none may.
    bool mask(std::vector<llama_token_data> &candidates) const;
    void accept(llama_token token) { llama_sampler_accept(sampler_.get(), token); }
    void restart() { llama_sampler_reset(sampler_.get()); }

  private:
    SamplerPtr sampler_;
};

} // namespace eliza

#pragma once

#include <cstdint>
#include <memory>

#include "eliza-inference-ffi.h"
#include "llama.h"
#include "select/llm-backend.h"

namespace eliza {

struct SamplerDeleter {
    void operator()(llama_sampler *sampler) const { llama_sampler_free(sampler); }
};
using SamplerPtr = std::unique_ptr<llama_sampler, SamplerDeleter>;

// Repeat penalty, then top-k, top-p and min-p, temperature and a seeded draw; greedy where temperature <= 0.
SamplerPtr make_sampler(const eliza_llm_stream_config_t &config, const StreamOptions &options, int32_t n_vocab);

} // namespace eliza

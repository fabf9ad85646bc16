#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "runtimes/llama/engine.h"
#include "select/llm-backend.h"

namespace eliza {

// The loaded models of one context, one engine each.
class EngineRegistry final : public LlmBackendState {
  public:
    // Loads the model on first use. Throws INVALID_ARG if it is loaded with another n_gpu_layers.
    Engine &engine(const std::string &path, int32_t n_gpu_layers);

  private:
    std::mutex mutex_;
    std::map<std::string, std::unique_ptr<Engine>> engines_;
};

} // namespace eliza

#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "lifetime/stop-at-exit.h"
#include "runtimes/llama/engine.h"
#include "select/llm-backend.h"

namespace eliza {

// The loaded models of one context, one engine each.
class EngineRegistry final : public LlmBackendState, public Stoppable {
  public:
    EngineRegistry() { stop_at_exit(this); }
    ~EngineRegistry() override { forget_at_exit(this); }

    // Loads the model on first use. Throws INVALID_ARGUMENT if it is loaded with another n_gpu_layers, CANCELLED.
    Engine &engine(const std::string &path, int32_t n_gpu_layers);
    // The model that was loaded last. Throws MODEL_NOT_LOADED. Never waits.
    Engine &loaded() const;
    // 0 to 1000 of the load that runs or ran last. Never waits.
    int32_t load_progress() const { return progress_.per_mille; }
    // The load that runs, else the next one, answers CANCELLED; a model that is loaded stays.
    void cancel_load() { progress_.cancelled = true; }
    // Cancels a load and waits for it, then stops the engines; there is no other load.
    void stop() override;

  private:
    std::mutex mutex_;
    std::map<std::string, std::unique_ptr<Engine>> engines_;
    std::atomic<Engine *> last_{nullptr};
    LoadProgress progress_;
    bool stopped_ = false;
};

} // namespace eliza

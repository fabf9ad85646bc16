#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "eliza-inference-ffi.h"
#include "ffi/stream.h"
#include "select/llm-backend.h"
#include "streaming/output-queue.h"

struct EliInferenceContext {
    explicit EliInferenceContext(std::string bundle_path) : bundle(std::move(bundle_path)) {}
    ~EliInferenceContext();

    // A stream that is open belongs to its context.
    void add(std::unique_ptr<EliLlmStream> stream);
    void close(EliLlmStream *stream);

    const std::string bundle;
    eliza::PollHub hub;
    // What each runtime keeps here; guarded by states_mutex.
    std::map<const LlmBackendFactory *, std::unique_ptr<LlmBackendState>> states;
    std::mutex states_mutex;

  private:
    std::unique_ptr<EliLlmStream> take(EliLlmStream *stream);

    std::mutex mutex_;
    std::vector<std::unique_ptr<EliLlmStream>> streams_; // after `states`, which they use until they are gone
};

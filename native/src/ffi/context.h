#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "eliza-inference-ffi.h"
#include "select/llm-backend.h"
#include "streaming/output-queue.h"

struct EliInferenceContext {
    explicit EliInferenceContext(std::string bundle_path) : bundle(std::move(bundle_path)) {}

    const std::string bundle;
    eliza::PollHub hub;
    // What each runtime keeps here; guarded by states_mutex.
    std::map<const LlmBackendFactory *, std::unique_ptr<LlmBackendState>> states;
    std::mutex states_mutex;
};

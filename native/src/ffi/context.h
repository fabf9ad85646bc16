#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "eliza-inference-ffi.h"
#include "streaming/output-queue.h"

namespace eliza {
class EngineRegistry;
}

struct EliInferenceContext {
    explicit EliInferenceContext(std::string bundle_path);
    ~EliInferenceContext();

    const std::string bundle;
    eliza::PollHub hub;
    // llama.cpp's loaded models, one engine each.
    std::unique_ptr<eliza::EngineRegistry> engines;
};

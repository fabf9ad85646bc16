#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "eliza-inference-ffi.h"
#include "select/llm-backend.h"

struct EliLlmStream {
    EliInferenceContext *ctx = nullptr;
    std::unique_ptr<LlmBackendSession> session;
    std::string runtime;
    std::vector<eliza::Candidate> candidates;
    // Since the last prompt: tokens that were guessed ahead, and how many of them were right.
    std::atomic<int32_t> drafted{0};
    std::atomic<int32_t> accepted{0};
    std::string logprobs = "[]";     // of the tokens that were taken last
    eliza::GenerationOptions opened; // how it generates unless configure says otherwise
};

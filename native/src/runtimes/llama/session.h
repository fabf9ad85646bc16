#pragma once

#include <memory>
#include <string>

#include "select/llm-backend.h"

namespace eliza {

class EngineRegistry;

// What a session on llama.cpp takes from its context.
struct LlamaPlace {
    std::string bundle;
    PollHub &hub;
    EngineRegistry &engines;
};

Capabilities llama_capabilities();

// Throws Failure.
std::unique_ptr<LlmBackendSession> open_llama_session(const LlamaPlace &place, const eliza_llm_stream_config_t &config,
                                                      const StreamOptions &options);

} // namespace eliza

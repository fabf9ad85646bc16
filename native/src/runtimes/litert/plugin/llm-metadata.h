#pragma once

#include <cstdint>
#include <string>

#include "runtimes/litert/plugin/model-file.h"

namespace eliza::litert {

// What the file says about prompts, from its metadata section.
struct LlmMetadata {
    // A Jinja template: the file's own, or one made of its prefixes and suffixes; empty for none.
    std::string chat_template;
    int32_t max_tokens = 0; // that a sequence can hold; 0: not said
};

// Throws MODEL_INVALID.
LlmMetadata read_llm_metadata(const ModelFile &model);

} // namespace eliza::litert

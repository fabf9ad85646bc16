#pragma once

#include <nlohmann/json.hpp>

#include "select/generation-options.h"

namespace eliza {

// Changes what `given`, an object, says. Throws INVALID_ARGUMENT for what is not known or out of range.
void read_generation_options(const nlohmann::json &given, GenerationOptions &options);

// `opened` with what options_json of eliza_inference_llm_stream_configure changes. Throws INVALID_ARGUMENT for what is not
// JSON, not known or out of range.
GenerationOptions parse_generation_options(const char *json, const GenerationOptions &opened);

} // namespace eliza

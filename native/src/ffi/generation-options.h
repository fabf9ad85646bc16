#pragma once

#include "select/generation-options.h"

namespace eliza {

// `opened` with what options_json of eliza_inference_llm_stream_configure changes. Throws INVALID_ARGUMENT for what is not
// JSON, not known or out of range.
GenerationOptions parse_generation_options(const char *json, const GenerationOptions &opened);

} // namespace eliza

#pragma once

#include "select/llm-backend.h"

namespace eliza {

// Reads options_json of open_ex, for a stream with this config. Throws Failure for what is not JSON, not known or out of
// range.
StreamOptions parse_stream_options(const char *json, const eliza_llm_stream_config_t &config);

// Throws Failure for a config with values that mean nothing.
void check_stream_config(const eliza_llm_stream_config_t &config);

} // namespace eliza

#pragma once

#include <string>
#include <vector>

#include "select/llm-backend.h"

namespace eliza {

// The registered runtimes, in order of registration.
std::vector<LlmBackendFactory *> registered_runtimes();
// By name in any letter case, "llamacpp" included; NULL if there is none.
LlmBackendFactory *find_runtime(const std::string &name);
// Takes a runtime out again; sessions that it opened stay.
void unregister_runtime(const LlmBackendFactory *factory);

std::string lower_case(std::string text);

} // namespace eliza

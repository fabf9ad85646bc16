#pragma once

#include <string>

namespace eliza {

// Why a name is no registered runtime: gated off in this build, or not known at all.
std::string why_not_here(const std::string &name);

} // namespace eliza

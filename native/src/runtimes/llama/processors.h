#pragma once

#include <cstdint>
#include <string>

namespace eliza {

// Processors that this process may use at once, and what says so.
struct Processors {
    int32_t count = 1;
    std::string reason;
};

// The machine's, less what the process's affinity leaves out, and no more than the CPU quota of its cgroups (rounded
// down, at least 1): threads beyond it wait for each other. `root`: where proc and sys lie.
Processors usable_processors(const std::string &root = "/");

} // namespace eliza

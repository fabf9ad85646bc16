#pragma once

#include <string>

namespace eliza {

// Opens an artifact in a process of its own, through the plugin, and generates a few tokens: what ends that process would
// have ended this one. Once for each version of the file: what went well is remembered in the user's cache folder. Throws
// what the plugin says, MODEL_INVALID where the process died or did not answer in time, or BACKEND_UNAVAILABLE where it
// cannot be started.
void probe_artifact(const std::string &runtime, const std::string &version, const std::string &plugin,
                    const std::string &artifact);

} // namespace eliza

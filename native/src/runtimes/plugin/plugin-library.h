#pragma once

#include <filesystem>
#include <string>

#include "eliza-runtime-plugin.h"

namespace eliza {

// A plugin's functions, or why there are none.
struct PluginLibrary {
    const eliza_runtime_plugin_table *table = nullptr; // whole: what the plugin does not know is NULL
    std::string path;
    std::string reason;
};

// The folder that this library lies in.
std::filesystem::path library_folder();

// Opens a plugin: the file that the environment variable names, else `file` beside this library. It stays open, since
// what it has brought into the process cannot be taken out again. A plugin that is absent is looked for anew.
PluginLibrary open_plugin(const char *variable, const std::string &file);

} // namespace eliza

#include "runtimes/plugin/plugin-library.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>

#if defined(_WIN32)
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace eliza {

namespace fs = std::filesystem;

#if defined(_WIN32)
fs::path library_folder() {
    HMODULE self = nullptr;
    const auto flags = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
    wchar_t path[MAX_PATH];
    if (!GetModuleHandleExW(flags, reinterpret_cast<LPCWSTR>(&open_plugin), &self)) return {};
    const DWORD length = GetModuleFileNameW(self, path, MAX_PATH);
    return fs::path(std::wstring(path, length)).parent_path();
}
#else
fs::path library_folder() {
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void *>(&open_plugin), &info) == 0 || info.dli_fname == nullptr) return {};
    return fs::path(info.dli_fname).parent_path();
}
#endif

namespace {

#if defined(_WIN32)
eliza_runtime_plugin_function load(const fs::path &path, std::string *reason) {
    HMODULE library = LoadLibraryW(path.c_str());
    if (library == nullptr) {
        *reason = path.string() + " cannot be loaded (error " + std::to_string(GetLastError()) + ")";
        return nullptr;
    }
    return reinterpret_cast<eliza_runtime_plugin_function>(GetProcAddress(library, "eliza_runtime_plugin"));
}
#else
eliza_runtime_plugin_function load(const fs::path &path, std::string *reason) {
    void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        const char *why = dlerror();
        *reason = why != nullptr ? why : path.string() + " cannot be loaded";
        return nullptr;
    }
    return reinterpret_cast<eliza_runtime_plugin_function>(dlsym(library, "eliza_runtime_plugin"));
}
#endif

PluginLibrary load_plugin(const fs::path &path) {
    PluginLibrary plugin;
    plugin.path = path.string();
    const eliza_runtime_plugin_function function = load(path, &plugin.reason);
    if (function == nullptr) {
        if (plugin.reason.empty()) plugin.reason = plugin.path + " has no function eliza_runtime_plugin";
        return plugin;
    }
    const eliza_runtime_plugin_table *table = function(ELIZA_RUNTIME_PLUGIN_VERSION);
    constexpr size_t FIRST_SIZE = offsetof(eliza_runtime_plugin_table, prefill_size);
    if (table == nullptr || table->version != ELIZA_RUNTIME_PLUGIN_VERSION || table->struct_size < FIRST_SIZE) {
        plugin.reason = plugin.path + " does not speak version " + std::to_string(ELIZA_RUNTIME_PLUGIN_VERSION) +
                        " of the plugin border";
        return plugin;
    }
    // As long as the process, like the plugin.
    auto *whole = new eliza_runtime_plugin_table{};
    std::memcpy(whole, table, std::min<size_t>(table->struct_size, sizeof(*whole)));
    plugin.table = whole;
    return plugin;
}

} // namespace

PluginLibrary open_plugin(const char *variable, const std::string &file) {
    static std::mutex mutex;
    static std::map<fs::path, PluginLibrary> opened;
    const char *named = std::getenv(variable);
    const fs::path path = named != nullptr && named[0] != '\0' ? fs::path(named) : library_folder() / file;
    const std::lock_guard lock(mutex);
    if (const auto found = opened.find(path); found != opened.end()) return found->second;
    std::error_code code;
    if (!fs::exists(path, code)) {
        PluginLibrary missing;
        missing.reason = "its plugin is not there: " + path.string() + " (" + variable + " names another)";
        return missing;
    }
    return opened[path] = load_plugin(path);
}

} // namespace eliza

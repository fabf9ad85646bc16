#include "runtimes/litert/plugin/litert-api.h"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <map>
#include <mutex>

#include "runtimes/plugin/user-folders.h"
#include "streaming/utf8.h"

namespace eliza::litert {

namespace {

namespace fs = std::filesystem;

#if defined(__APPLE__)
constexpr const char *FILE_NAME = "liblitert-lm.dylib";
#else
constexpr const char *FILE_NAME = "liblitert-lm.so";
#endif

fs::path library_path() {
    const char *named = std::getenv("ELIZA_LITERT_LM_LIBRARY");
    if (named != nullptr && named[0] != '\0') return named;
    return data_folder() / "runtimes" / "litert-lm" / LITERT_LM_VERSION / "litert_lm" / FILE_NAME;
}

// The library's run path is a relative folder, so its system libraries would be looked for in the current folder first.
// What is loaded by name already is not looked for.
void load_system_libraries() {
#if defined(__linux__)
    for (const char *name : {"libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1"}) {
        dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
#endif
}

// A version is what the library says in a data symbol of its C++ side: std::string_view of libc++.
std::string version_of(void *library) {
    struct View {
        const char *text;
        size_t size;
    };
    const auto *view = static_cast<const View *>(dlsym(library, "_ZN6litert2lm17LITERT_LM_VERSIONE"));
    if (view == nullptr || view->text == nullptr || view->size == 0 || view->size > 64) return "";
    return {view->text, view->size};
}

std::string why_not(void *library) {
    const std::string supported = std::string(" (supported: ") + LITERT_LM_VERSION + ")";
    // From 0.19 on the same names have other signatures.
    if (dlsym(library, "litert_lm_get_api_version") != nullptr) {
        return "it has the C interface of 0.19 or later" + supported;
    }
    const std::string version = version_of(library);
    if (version.empty()) return "its version is not known" + supported;
    if (version != LITERT_LM_VERSION) return "it is version " + version + supported;
    return "";
}

struct Loaded {
    LitertApi api;
    std::string reason;
};

Loaded load(const fs::path &path) {
    Loaded loaded;
    loaded.api.path = path.string();
    load_system_libraries();
    // Never global: it exports a C++ runtime of its own.
    void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        const char *why = dlerror();
        loaded.reason = why != nullptr ? why : path.string() + " cannot be loaded";
        return loaded;
    }
    loaded.reason = why_not(library);
    if (!loaded.reason.empty()) {
        loaded.reason = path.string() + ": " + loaded.reason;
        return loaded;
    }
#define FUNCTION(result, name, arguments)                                                                              \
    loaded.api.name = reinterpret_cast<result(*) arguments>(dlsym(library, "litert_lm_" #name));                       \
    if (loaded.api.name == nullptr && loaded.reason.empty()) {                                                         \
        loaded.reason = path.string() + " lacks the function litert_lm_" #name;                                        \
    }
    LITERT_LM_FUNCTIONS(FUNCTION)
#undef FUNCTION
    constexpr int SILENT = 1000;
    if (loaded.reason.empty()) loaded.api.set_min_log_level(SILENT);
    return loaded;
}

} // namespace

LoadedApi load_litert() {
    static std::mutex mutex;
    static auto &libraries = *new std::map<fs::path, Loaded>; // never destroyed: threads outlive exit
    const fs::path path = library_path();
    const std::lock_guard lock(mutex);
    auto found = libraries.find(path);
    if (found == libraries.end()) {
        std::error_code code;
        if (!fs::exists(path, code)) {
            return {nullptr, "LiteRT-LM is not there: " + path.string() +
                                 " (fetch it with: eliza-inference runtimes add litert-lm)"};
        }
        found = libraries.emplace(path, load(path)).first;
    }
    if (!found->second.reason.empty()) return {nullptr, found->second.reason};
    return {&found->second.api, ""};
}

std::string last_error(const LitertApi &api) {
    const char *text = api.get_last_error_message();
    Utf8Assembler utf8;
    std::string message = text != nullptr ? utf8.push(text) + utf8.flush() : "";
    for (char &c : message) {
        if (static_cast<unsigned char>(c) < 0x20) c = ' ';
    }
    if (message.size() <= 2 || message.ends_with(": ")) message += "without a message";
    return message + " (code " + std::to_string(api.get_last_error_code()) + ")";
}

} // namespace eliza::litert

#include "runtimes/plugin/user-folders.h"

#include <cstdlib>

namespace eliza {

namespace {

namespace fs = std::filesystem;

fs::path variable(const char *name) {
    const char *value = std::getenv(name);
    return value != nullptr ? fs::path(value) : fs::path();
}

fs::path home() {
    const fs::path named = variable("HOME");
    return named.empty() ? fs::path("/") : named;
}

// The rules of XDG say that a relative path is to be ignored.
fs::path folder(const char *name, const char *fallback) {
    const fs::path named = variable(name);
    return named.is_absolute() ? named : home() / fallback;
}

} // namespace

fs::path data_folder() {
#if defined(__APPLE__)
    return home() / "Library/Application Support/eliza-inference";
#else
    return folder("XDG_DATA_HOME", ".local/share") / "eliza-inference";
#endif
}

fs::path cache_folder() {
    const fs::path named = variable("ELIZA_INFERENCE_CACHE");
    if (!named.empty()) return fs::absolute(named);
#if defined(__APPLE__)
    return home() / "Library/Caches/eliza-inference";
#else
    return folder("XDG_CACHE_HOME", ".cache") / "eliza-inference";
#endif
}

} // namespace eliza

#include "runtimes/plugin/bundle-artifacts.h"

#include <algorithm>
#include <filesystem>
#include <vector>

namespace eliza {

namespace fs = std::filesystem;

namespace {

std::vector<fs::path> entries_of(const fs::path &folder) {
    std::vector<fs::path> entries;
    std::error_code code;
    for (fs::directory_iterator entry(folder, code), end; !code && entry != end; entry.increment(code)) {
        entries.push_back(entry->path());
    }
    return entries;
}

bool is_mlx(const fs::path &folder) {
    std::error_code code;
    const std::vector<fs::path> entries = entries_of(folder);
    return fs::exists(folder / "config.json", code) &&
           std::ranges::any_of(entries, [](const fs::path &path) { return path.extension() == ".safetensors"; });
}

} // namespace

std::string only_artifact(const std::string &bundle, std::initializer_list<const char *> endings) {
    const auto fits = [&](const fs::path &path) {
        return std::ranges::any_of(endings, [&](const char *ending) { return path.extension() == ending; });
    };
    if (fits(bundle)) return bundle;
    std::vector<fs::path> found = entries_of(fs::path(bundle) / "text");
    std::erase_if(found, [&](const fs::path &path) { return !fits(path); });
    return found.size() == 1 ? found.front().string() : std::string();
}

std::string mlx_weights(const std::string &bundle) {
    if (is_mlx(bundle)) return bundle;
    const fs::path text = fs::path(bundle) / "text";
    if (is_mlx(text)) return text.string();
    std::vector<fs::path> found = entries_of(text);
    std::erase_if(found, [](const fs::path &path) { return !is_mlx(path); });
    return found.size() == 1 ? found.front().string() : std::string();
}

} // namespace eliza

#include "select/registry.h"

#include <algorithm>
#include <cctype>
#include <mutex>

namespace eliza {

namespace {

std::mutex registry_mutex;

std::vector<LlmBackendFactory *> &registry() {
    static std::vector<LlmBackendFactory *> factories;
    return factories;
}

LlmBackendFactory *find_locked(const std::string &name) {
    const std::string wanted = lower_case(name) == "llamacpp" ? "llama.cpp" : lower_case(name);
    const auto found = std::ranges::find_if(
        registry(), [&](const LlmBackendFactory *factory) { return lower_case(factory->name()) == wanted; });
    return found == registry().end() ? nullptr : *found;
}

} // namespace

std::string lower_case(std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

std::vector<LlmBackendFactory *> registered_runtimes() {
    const std::lock_guard lock(registry_mutex);
    return registry();
}

LlmBackendFactory *find_runtime(const std::string &name) {
    const std::lock_guard lock(registry_mutex);
    return find_locked(name);
}

void unregister_runtime(const LlmBackendFactory *factory) {
    const std::lock_guard lock(registry_mutex);
    std::erase(registry(), factory);
}

} // namespace eliza

void llm_backend_register(LlmBackendFactory *factory) {
    const std::lock_guard lock(eliza::registry_mutex);
    if (eliza::find_locked(factory->name()) == nullptr) eliza::registry().push_back(factory);
}

LlmBackendFactory *llm_backend_default() { return eliza::find_runtime("llama.cpp"); }

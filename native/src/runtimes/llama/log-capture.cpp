#include "runtimes/llama/log-capture.h"

#include <mutex>
#include <utility>

#include "llama.h"

namespace eliza {

namespace {

std::mutex mutex;
std::string errors;
constexpr size_t LIMIT = 2000;

void keep_errors(ggml_log_level level, const char *text, void *) {
    if (level != GGML_LOG_LEVEL_ERROR) return;
    const std::lock_guard lock(mutex);
    if (errors.size() > LIMIT) return;
    std::string line(text);
    while (!line.empty() && (line.back() == '\n' || line.back() == ' ')) line.pop_back();
    if (line.empty()) return;
    if (!errors.empty()) errors += "; ";
    errors += line;
}

} // namespace

void capture_llama_log() {
    static std::once_flag once;
    std::call_once(once, [] {
        llama_log_set(keep_errors, nullptr);
        llama_backend_init();
    });
}

std::string take_llama_errors() {
    const std::lock_guard lock(mutex);
    return std::exchange(errors, std::string());
}

} // namespace eliza

#include "runtimes/litert/plugin/time-limit.h"

#include <cstdlib>
#include <future>
#include <thread>

namespace eliza::litert {

std::chrono::milliseconds time_limit() {
    const char *text = std::getenv("ELIZA_LITERT_TIME_LIMIT_MS");
    const long given = text != nullptr ? std::strtol(text, nullptr, 10) : 0;
    return std::chrono::milliseconds(given > 0 ? given : 120'000);
}

bool within_limit(std::function<void()> call) {
    std::packaged_task<void()> task(std::move(call));
    std::future<void> done = task.get_future();
    std::thread(std::move(task)).detach();
    if (done.wait_for(time_limit()) != std::future_status::ready) return false;
    done.get();
    return true;
}

} // namespace eliza::litert

#include "streaming/stop-matcher.h"

#include <algorithm>
#include <utility>

namespace eliza {

std::string StopMatcher::push(std::string_view text) {
    if (!matched_.empty()) return {};
    held_.append(text);
    size_t first = std::string::npos;
    for (const std::string &stop : stops_) {
        const size_t at = held_.find(stop);
        if (at < first) {
            first = at;
            matched_ = stop;
        }
    }
    if (first != std::string::npos) {
        std::string before = held_.substr(0, first);
        held_.clear();
        return before;
    }
    size_t keep = 0;
    for (const std::string &stop : stops_) {
        for (size_t length = std::min(stop.size() - 1, held_.size()); length > keep; --length) {
            if (std::string_view(held_).ends_with(std::string_view(stop).substr(0, length))) keep = length;
        }
    }
    std::string free = held_.substr(0, held_.size() - keep);
    held_.erase(0, free.size());
    return free;
}

std::string StopMatcher::flush() { return std::exchange(held_, std::string()); }

void StopMatcher::clear() {
    held_.clear();
    matched_.clear();
}

} // namespace eliza

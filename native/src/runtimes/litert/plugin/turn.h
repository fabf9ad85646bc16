#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

namespace eliza::litert {

// The right to use an engine, which computes for one session at a time. First come, first served; it may be given back by
// another thread than the one that took it.
class Turn {
  public:
    // Waits. False if `unwanted` said so meanwhile.
    bool take(const std::function<bool()> &unwanted) {
        std::unique_lock lock(mutex_);
        const uint64_t ticket = next_++;
        waiting_ += 1;
        const auto mine = [&] { return serving_ == ticket; };
        while (!changed_.wait_for(lock, std::chrono::milliseconds(20), mine)) {
            skip_left();
            if (mine() || !unwanted()) continue;
            left_.push_back(ticket);
            waiting_ -= 1;
            skip_left();
            return false;
        }
        waiting_ -= 1;
        return true;
    }
    void give() {
        const std::lock_guard lock(mutex_);
        serving_ += 1;
        skip_left();
        changed_.notify_all();
    }
    // Whether somebody waits for it.
    bool wanted() const {
        const std::lock_guard lock(mutex_);
        return waiting_ > 0;
    }

  private:
    // Tickets whose holders went away are not waited for.
    void skip_left() {
        while (std::erase(left_, serving_) > 0) {
            serving_ += 1;
            changed_.notify_all();
        }
    }

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    uint64_t next_ = 0;
    uint64_t serving_ = 0;
    int waiting_ = 0;
    std::vector<uint64_t> left_;
};

} // namespace eliza::litert

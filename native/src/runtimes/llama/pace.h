#pragma once

#include <algorithm>
#include <cstdint>

namespace eliza {

// How many tokens a batch may hold so that a cancellation need not wait long for it. Two batches in a row of which some
// part that cannot be left took longer than MOST_US halve it; where nothing is slow, every batch is a whole ubatch.
class Pace {
  public:
    // A cancellation waits for one such part. Half of what people feel as an answer at once.
    static constexpr int64_t MOST_US = 250'000;
    // Below this a batch costs more for each token, since the weights are read for few.
    static constexpr int32_t LEAST_TOKENS = 32;

    explicit Pace(int32_t ubatch_size = 1) : tokens_(ubatch_size) {}

    int32_t tokens() const { return tokens_; }
    void begin(int64_t now_us) {
        start_us_ = mark_us_ = now_us;
        longest_us_ = 0;
    }
    // A place where the batch can be left.
    void mark(int64_t now_us) {
        longest_us_ = std::max(longest_us_, now_us - mark_us_);
        mark_us_ = now_us;
    }
    // can_leave: the batch can be left at its marks; else only at its end.
    void end(int64_t now_us, int32_t tokens, bool can_leave) {
        mark(now_us);
        const int64_t wait_us = can_leave ? longest_us_ : now_us - start_us_;
        if (tokens <= LEAST_TOKENS || tokens < tokens_) return; // says nothing of a full one
        slow_ = wait_us > MOST_US ? slow_ + 1 : 0;
        if (slow_ < 2) return;
        tokens_ = std::max(LEAST_TOKENS, tokens_ / 2);
        slow_ = 0;
    }

  private:
    int32_t tokens_;
    int32_t slow_ = 0;
    int64_t start_us_ = 0;
    int64_t mark_us_ = 0;
    int64_t longest_us_ = 0;
};

} // namespace eliza

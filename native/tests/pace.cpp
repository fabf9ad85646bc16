#include "runtimes/llama/pace.h"

#include "check.h"

using eliza::Pace;

namespace {

// A batch of `tokens` of which each takes token_us, in `nodes` equal parts.
void compute(Pace &pace, int32_t tokens, int64_t token_us, int64_t nodes, bool can_leave) {
    int64_t now = 1'000'000;
    pace.begin(now);
    for (int64_t node = 0; node < nodes; ++node) pace.mark(now += tokens * token_us / nodes);
    pace.end(now, tokens, can_leave);
}

} // namespace

TEST("batches stay whole ubatches where each part of them is quick") {
    Pace pace(512);
    for (int i = 0; i < 100; ++i) compute(pace, 512, 10'000, 100, true); // 5 s a batch, 51 ms a node
    EXPECT(pace.tokens() == 512);
}

TEST("batches shrink until a cancellation waits less than half a second, and no further") {
    for (const int64_t token_us : {1'000, 10'000, 100'000, 1'000'000}) {
        for (const bool can_leave : {true, false}) {
            Pace pace(512);
            for (int i = 0; i < 100; ++i) compute(pace, pace.tokens(), token_us, 10, can_leave);
            const int64_t wait = pace.tokens() * token_us / (can_leave ? 10 : 1);
            EXPECT(wait <= Pace::MOST_US || pace.tokens() == Pace::LEAST_TOKENS);
            EXPECT(wait * 2 > Pace::MOST_US || pace.tokens() == 512);
        }
    }
}

TEST("one slow batch, or a small one, changes nothing") {
    Pace pace(512);
    for (int i = 0; i < 20; ++i) {
        compute(pace, 512, 100'000, 10, true);
        compute(pace, 512, 100, 10, true);
        compute(pace, 1, 5'000'000, 1, true);
    }
    EXPECT(pace.tokens() == 512);
}

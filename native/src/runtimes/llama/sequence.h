#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtimes/llama/sampler.h"
#include "streaming/output-queue.h"
#include "streaming/stop-matcher.h"
#include "streaming/utf8.h"

namespace eliza {

struct SharedContext;

// What a stream's last generation took, for its report.
struct Timing {
    int64_t asked_us = 0; // prefill was called
    int64_t prefill_start_us = 0;
    int64_t first_token_us = 0;
    int64_t last_token_us = 0;
    int32_t prompt_tokens = 0;
    int32_t reused_tokens = 0; // already in the cache
    int32_t generated_tokens = 0;
    const char *finish_reason = ""; // empty until it has ended
    std::string stop_sequence;      // the stop string that ended it
};

// One stream's place in the engine. The host side reads and writes the atomics; all else belongs to the engine thread.
struct Sequence {
    Sequence(PollHub &hub, size_t queue_size) : queue(hub, queue_size) {}

    OutputQueue queue;
    std::atomic<bool> cancelled{false};
    std::atomic<bool> started{false};    // the reader asked for output
    std::atomic<bool> generating{false}; // between the first sampled token and the final one
    std::atomic<int32_t> planned{0};     // tokens in the cache and on the way there
    std::atomic<int32_t> held{0};        // tokens in the cache

    SharedContext *shared = nullptr;
    llama_seq_id id = -1;
    int32_t context_size = 0;
    std::string threads_reason; // why it computes with as many threads as it does
    int32_t max_tokens = 0;
    std::unique_ptr<Sampler> sampler;
    StopMatcher stops;
    Utf8Assembler utf8;
    std::vector<llama_token> tokens;        // in the cache
    std::vector<llama_token> waiting;       // from a slot, to go before the next prompt
    std::vector<llama_token> prompt;        // to be computed
    llama_token pending = LLAMA_TOKEN_NULL; // sampled and not yet in the cache
    int32_t generated = 0;

    std::mutex timing_mutex;
    Timing timing;

    // After `tokens` was changed, for who may not wait for the engine.
    void tell_held() { held = static_cast<int32_t>(tokens.size()); }

    // Known and not yet in the cache, in their order.
    std::vector<llama_token> outside_cache() const {
        std::vector<llama_token> all = waiting;
        if (pending != LLAMA_TOKEN_NULL) all.push_back(pending);
        all.insert(all.end(), prompt.begin(), prompt.end());
        return all;
    }
};

} // namespace eliza

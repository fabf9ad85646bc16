#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "eliza-inference-ffi.h"
#include "lifetime/stop-at-exit.h"

namespace eliza {

class OutputQueue;

// What one read of a stream fills.
struct NextOutput {
    int32_t *tokens = nullptr;
    size_t tokens_cap = 0;
    size_t count = 0;
    char *text = nullptr; // NUL-terminated UTF-8
    size_t text_cap = 0;
    int32_t drafted = 0; // tokens that were guessed ahead, and how many of them were right
    int32_t accepted = 0;
    std::string logprobs; // JSON of each token's log probability, commas between them; empty if none was asked for
};

// Where the streams of one context say that they have output; one poll waits for all of them.
class PollHub final : public Stoppable {
  public:
    PollHub() { stop_at_exit(this); }
    ~PollHub() override { forget_at_exit(this); }

    // Streams whose reader has not been told yet, at most `cap`; waits up to timeout_ms (< 0: for ever).
    size_t wait(EliLlmStream **streams, size_t cap, int timeout_ms);
    void wake();
    // Who waits hears CANCELLED, and no one waits any more.
    void stop() override;

    void add(OutputQueue *queue);
    void remove(OutputQueue *queue);

  private:
    friend class OutputQueue;

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<OutputQueue *> queues_;
    bool woken_ = false;
    bool stopped_ = false;
};

// One generated token, its text whole characters (often empty while one is being put together).
struct OutputToken {
    int32_t id = 0;
    std::string text;
    // Of the step that gave it, where tokens are guessed ahead: how many were, and how many of them were right.
    int32_t drafted = 0;
    int32_t accepted = 0;
    std::string logprobs; // JSON
};

// Tokens that an engine made and a reader has not taken. Bounded: a full queue stops the engine, not the reader.
class OutputQueue {
  public:
    OutputQueue(PollHub &hub, size_t capacity) : hub_(hub), capacity_(capacity) {}

    void set_owner(EliLlmStream *owner) { owner_ = owner; }
    // Called, without any lock of the queue, when a reader made room or asked for output.
    void set_demand(std::function<void()> demand) { demand_ = std::move(demand); }

    // Engine side.
    bool has_room() const;
    void push(OutputToken token);
    // No more tokens for now. status 0: ended well; else one of ELIZA_ERR_* with its message.
    void finish(int status, std::string trailing_text, std::string error);
    // A prompt is on its way: output will follow. True if none was expected before.
    bool expect();
    bool expecting() const;
    // Drops everything; the queue is as new.
    void restart();
    // From now on the reader gets CANCELLED, whatever was queued.
    void cancel();

    // Reader side, as eliza_inference_llm_stream_next; 2 if nothing is there and `wait` is false.
    int take(bool wait, NextOutput *output, std::string *error);

  private:
    friend class PollHub;

    bool ready_locked() const { return !tokens_.empty() || finished_ || cancelled_; }
    void announce_locked();
    void cancel_locked();

    PollHub &hub_;
    const size_t capacity_;
    EliLlmStream *owner_ = nullptr;
    std::function<void()> demand_;

    // Guarded by hub_.mutex_, so that a poll sees all of its streams at once.
    std::condition_variable readable_;
    std::deque<OutputToken> tokens_;
    std::string trailing_text_;
    std::string error_;
    int status_ = 0;
    bool finished_ = false;
    bool cancelled_ = false;
    bool expecting_ = false;
    bool told_ = false; // the reader knows that there is something to take
};

} // namespace eliza

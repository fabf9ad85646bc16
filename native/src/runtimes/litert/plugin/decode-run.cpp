#include "runtimes/litert/plugin/decode-run.h"

#include "runtimes/litert/plugin/time-limit.h"

namespace eliza::litert {

namespace {

// Texts that may wait for the reader, and those after which a run makes way for another session.
constexpr size_t AHEAD = 32;
constexpr size_t QUANTUM = 16;

} // namespace

bool DecodeRun::start() {
    if (engine_.api.session_run_decode_async(session_, &DecodeRun::on_chunk, this) == 0) return true;
    engine_.turn.give();
    return false;
}

void DecodeRun::on_chunk(void *self, const void *chunk) { static_cast<DecodeRun *>(self)->take_chunk(chunk); }

// On a thread of the library, where none of its functions but cancel may be called.
void DecodeRun::take_chunk(const void *chunk) {
    const char *text = engine_.api.stream_chunk_get_text(chunk);
    const char *error = engine_.api.stream_chunk_get_error(chunk);
    const bool final = engine_.api.stream_chunk_is_final(chunk) || error != nullptr;
    bool pause = false;
    {
        const std::lock_guard lock(mutex_);
        if (ended_) return;
        if (text != nullptr && text[0] != '\0') {
            texts_.emplace_back(text);
            received_ += 1;
        }
        if (error != nullptr) error_ = error[0] != '\0' ? error : "an error without a message";
        const bool makes_way =
            may_pause_ && (texts_.size() >= AHEAD || (received_ >= QUANTUM && engine_.turn.wanted()));
        pause = !cancelling_ && !final && (makes_way || cancel_requested_);
        if (pause) cancelling_ = true;
    }
    if (pause) engine_.api.session_cancel_process(session_);
    if (final) engine_.turn.give();
    // Last: whoever sees the end may free this.
    const std::lock_guard lock(mutex_);
    if (final) ended_ = true;
    changed_.notify_all();
}

DecodeRun::Output DecodeRun::next() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, time_limit(), [&] { return ended_ || !texts_.empty(); })) {
        return {"", End::SILENT, ""};
    }
    if (!texts_.empty()) {
        Output output{std::move(texts_.front()), End::NONE, ""};
        texts_.pop_front();
        return output;
    }
    if (error_.empty()) return {"", End::STOPPED, ""};
    if (error_.find("CANCELLED") != std::string::npos) return {"", End::CANCELLED, ""};
    if (error_.find("Max number of tokens") != std::string::npos) return {"", End::CONTEXT_FULL, ""};
    return {"", End::FAILED, error_};
}

void DecodeRun::request_cancel() {
    {
        const std::lock_guard lock(mutex_);
        cancel_requested_ = true;
        if (received_ == 0 || cancelling_ || ended_) return;
        cancelling_ = true;
    }
    engine_.api.session_cancel_process(session_);
}

bool DecodeRun::cancel() {
    request_cancel();
    std::unique_lock lock(mutex_);
    const bool ended = changed_.wait_for(lock, time_limit(), [&] { return ended_; });
    texts_.clear();
    return ended;
}

} // namespace eliza::litert

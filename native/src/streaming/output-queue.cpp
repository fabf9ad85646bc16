#include "streaming/output-queue.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

namespace eliza {

size_t PollHub::wait(EliLlmStream **streams, size_t cap, int timeout_ms) {
    std::unique_lock lock(mutex_);
    size_t count = 0;
    const auto collect = [&] {
        for (OutputQueue *queue : queues_) {
            if (count == cap) break;
            if (queue->owner_ == nullptr || queue->told_ || !queue->ready_locked()) continue;
            queue->told_ = true;
            streams[count++] = queue->owner_;
        }
        return count > 0 || woken_ || stopped_;
    };
    if (timeout_ms < 0) {
        changed_.wait(lock, collect);
    } else {
        changed_.wait_for(lock, std::chrono::milliseconds(timeout_ms), collect);
    }
    woken_ = false;
    return count;
}

void PollHub::wake() {
    const std::lock_guard lock(mutex_);
    woken_ = true;
    changed_.notify_all();
}

void PollHub::stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
    for (OutputQueue *queue : queues_) queue->cancel_locked();
}

void PollHub::add(OutputQueue *queue) {
    const std::lock_guard lock(mutex_);
    queues_.push_back(queue);
}

void PollHub::remove(OutputQueue *queue) {
    const std::lock_guard lock(mutex_);
    std::erase(queues_, queue);
}

bool OutputQueue::has_room() const {
    const std::lock_guard lock(hub_.mutex_);
    return tokens_.size() < capacity_;
}

void OutputQueue::announce_locked() {
    readable_.notify_all();
    if (!told_) hub_.changed_.notify_all();
}

void OutputQueue::push(OutputToken token) {
    const std::lock_guard lock(hub_.mutex_);
    if (cancelled_) return;
    tokens_.push_back(std::move(token));
    announce_locked();
}

void OutputQueue::finish(int status, std::string trailing_text, std::string error) {
    const std::lock_guard lock(hub_.mutex_);
    finished_ = true;
    expecting_ = false;
    status_ = status;
    trailing_text_ = std::move(trailing_text);
    error_ = std::move(error);
    announce_locked();
}

bool OutputQueue::expect() {
    const std::lock_guard lock(hub_.mutex_);
    finished_ = false;
    return !std::exchange(expecting_, true);
}

bool OutputQueue::expecting() const {
    const std::lock_guard lock(hub_.mutex_);
    return expecting_;
}

void OutputQueue::restart() {
    const std::lock_guard lock(hub_.mutex_);
    tokens_.clear();
    trailing_text_.clear();
    error_.clear();
    status_ = 0;
    finished_ = false;
    cancelled_ = false;
    expecting_ = false;
    told_ = false;
}

void OutputQueue::cancel() {
    const std::lock_guard lock(hub_.mutex_);
    cancel_locked();
}

void OutputQueue::cancel_locked() {
    tokens_.clear();
    cancelled_ = true;
    announce_locked();
}

int OutputQueue::take(bool wait, NextOutput *output, std::string *error) {
    output->count = 0;
    output->text[0] = '\0';
    const size_t text_cap = output->text_cap;
    if (demand_) demand_();

    std::unique_lock lock(hub_.mutex_);
    if (!ready_locked()) {
        if (!expecting_) {
            *error = "INVALID_ARGUMENT: there is nothing to generate from\nprefill a prompt first";
            return ELIZA_ERR_INVALID_ARG;
        }
        if (!wait) {
            told_ = false;
            return 2;
        }
        readable_.wait(lock, [&] { return ready_locked(); });
    }
    if (cancelled_) {
        *error = "CANCELLED: the stream was cancelled\nreset it before it is used again";
        return ELIZA_ERR_CANCELLED;
    }
    size_t used = 0;
    while (!tokens_.empty() && output->count < output->tokens_cap) {
        const OutputToken &token = tokens_.front();
        if (used + token.text.size() + 1 > text_cap) {
            if (output->count > 0) break;
            *error = "INVALID_ARGUMENT: text_cap is " + std::to_string(text_cap) + " bytes, the next token needs " +
                     std::to_string(token.text.size() + 1) + "\npass a larger text buffer; nothing was consumed";
            return ELIZA_ERR_INVALID_ARG;
        }
        std::memcpy(output->text + used, token.text.data(), token.text.size());
        used += token.text.size();
        output->tokens[output->count++] = token.id;
        output->drafted += token.drafted;
        output->accepted += token.accepted;
        if (!token.logprobs.empty()) output->logprobs += (output->logprobs.empty() ? "" : ",") + token.logprobs;
        tokens_.pop_front();
    }
    output->text[used] = '\0';
    const bool made_room = output->count > 0;
    int result = 0;
    if (tokens_.empty() && finished_) {
        if (status_ != 0 && output->count == 0) {
            *error = error_;
            result = status_;
        } else if (status_ == 0 && used + trailing_text_.size() + 1 <= text_cap) {
            std::memcpy(output->text + used, trailing_text_.data(), trailing_text_.size());
            output->text[used + trailing_text_.size()] = '\0';
            trailing_text_.clear();
            result = 1;
        } else if (status_ == 0 && output->count == 0) {
            *error = "INVALID_ARGUMENT: text_cap is " + std::to_string(text_cap) + " bytes, the last text needs " +
                     std::to_string(trailing_text_.size() + 1) + "\npass a larger text buffer; nothing was consumed";
            return ELIZA_ERR_INVALID_ARG;
        }
    }
    lock.unlock();
    if (made_room && demand_) demand_();
    return result;
}

} // namespace eliza

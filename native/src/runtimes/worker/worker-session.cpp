#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include <nlohmann/json.hpp>

#include "error/failure.h"
#include "lifetime/stop-at-exit.h"
#include "runtimes/worker/token-source.h"
#include "streaming/output-queue.h"
#include "streaming/prompt-rules.h"
#include "streaming/stop-matcher.h"
#include "streaming/utf8.h"

namespace eliza {

namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

double ms_between(Clock::time_point from, Clock::time_point to) {
    if (from == Clock::time_point{} || to <= from) return 0.0;
    return std::chrono::duration<double, std::milli>(to - from).count();
}

struct WorkerTiming {
    Clock::time_point asked, prefill_start, first_token, last_token;
    size_t prompt_tokens = 0;
    size_t reused_tokens = 0;
    const char *finish_reason = "";
    std::string stop_sequence; // the stop string that ended it
};

class WorkerSession final : public LlmBackendSession, public Stoppable {
  public:
    WorkerSession(std::string runtime, PollHub &hub, std::unique_ptr<TokenSource> source, const StreamOptions &options)
        : runtime_(std::move(runtime)), source_(std::move(source)),
          queue_(hub, static_cast<size_t>(options.queue_size)), max_tokens_(options.generation.max_tokens),
          ubatch_(static_cast<size_t>(options.ubatch_size > 0 ? options.ubatch_size : options.batch_size)),
          run_ahead_(options.run_ahead) {
        stops_.set(options.generation.stop);
        if (source_->prefill_size() > 0) ubatch_ = std::min(ubatch_, source_->prefill_size());
        queue_.set_demand([this] {
            const std::lock_guard lock(mutex_);
            started_ = true;
            changed_.notify_all();
        });
        thread_ = std::thread([this] { loop(); });
        stop_at_exit(this);
        renew_exit_handler(); // the source has opened a runtime, which may have made static objects
    }

    ~WorkerSession() override {
        forget_at_exit(this);
        queue_.set_demand(nullptr);
        stop();
    }

    void stop() override {
        queue_.cancel();
        {
            const std::lock_guard lock(mutex_);
            cancelled_ = stopping_ = true;
            changed_.notify_all();
        }
        source_->cancel();
        const std::lock_guard once(stop_mutex_);
        if (!thread_.joinable()) return;
        thread_.join();
        source_->keep(0); // it waits for what it computes ahead
    }

    Capabilities capabilities() const override { return source_->capabilities(); }

    int prefill(const int32_t *ids, size_t count, char **) override {
        const std::lock_guard lock(mutex_);
        PromptState state;
        state.vocabulary = source_->vocabulary();
        state.cancelled = cancelled_;
        state.generating = generating_;
        state.asked_for = queue_.expecting() && started_;
        state.context_size = source_->context_size();
        state.planned = static_cast<int32_t>(sequence_.size() + prompt_.size());
        check_prompt(ids, count, state);
        if (queue_.expect()) {
            started_ = run_ahead_;
            timing_ = WorkerTiming{};
            timing_.asked = Clock::now();
            timing_.reused_tokens = sequence_.size();
        }
        timing_.prompt_tokens += count;
        prompt_.insert(prompt_.end(), ids, ids + count);
        changed_.notify_all();
        return ELIZA_OK;
    }

    int cancel() override {
        {
            const std::lock_guard lock(mutex_);
            cancelled_ = true;
        }
        queue_.cancel();
        source_->cancel();
        return ELIZA_OK;
    }

    int reset() override {
        keep(0);
        return ELIZA_OK;
    }

    int reset_keep(int32_t n_keep) override {
        return keep(capabilities().has(Capability::RESET_KEEP) ? std::max(0, n_keep) : 0);
    }

    int configure(const GenerationOptions &options, char **) override {
        std::unique_lock lock(mutex_);
        if (!cancelled_ && (generating_ || queue_.expecting())) {
            throw Failure(Code::INVALID_ARGUMENT, "the stream cannot be configured while it generates",
                          "read its output to the end, or cancel it");
        }
        const Pause pause(*this, lock);
        source_->configure(options);
        max_tokens_ = options.max_tokens;
        stops_.set(options.stop);
        return ELIZA_OK;
    }

    int tokens(std::vector<int32_t> *ids, char **) override {
        const std::lock_guard lock(mutex_);
        *ids = sequence_;
        ids->insert(ids->end(), prompt_.begin(), prompt_.end());
        return ELIZA_OK;
    }

    int tokenize(const char *text, size_t bytes, bool add_special, bool parse_special, std::vector<int32_t> *ids,
                 char **) override {
        *ids = source_->tokenize({text, bytes}, add_special, parse_special);
        return ELIZA_OK;
    }

    int detokenize(const int32_t *ids, size_t count, bool special, std::string *text, char **) override {
        for (size_t i = 0; i < count; ++i) {
            if (ids[i] >= 0 && ids[i] < source_->vocabulary()) continue;
            throw Failure(Code::INVALID_ARGUMENT, "token " + std::to_string(i) + " is " + std::to_string(ids[i]),
                          "ids come from this stream's vocabulary");
        }
        Utf8Assembler utf8;
        *text = utf8.push(source_->detokenize(ids, count, special)) + utf8.flush();
        return ELIZA_OK;
    }

    int report(std::string *text, char **) override {
        std::unique_lock lock(mutex_);
        const Pause pause(*this, lock);
        json report = json::parse(source_->report());
        report["runtime"] = runtime_;
        report["context"]["size"] = source_->context_size();
        report["context"]["used"] = sequence_.size();
        report.update(generation_part());
        *text = report.dump(-1, ' ', false, json::error_handler_t::replace);
        return ELIZA_OK;
    }

    int generation_report(std::string *text, char **) override {
        const std::lock_guard lock(mutex_);
        json report = generation_part();
        report["used"] = sequence_.size();
        *text = report.dump(-1, ' ', false, json::error_handler_t::replace);
        return ELIZA_OK;
    }

    OutputQueue &output() override { return queue_; }

  private:
    // The last prompt token is computed only when somebody wants its answer: until then more prompt may come.
    size_t prompt_ready() const { return prompt_.empty() || started_ ? prompt_.size() : prompt_.size() - 1; }
    bool has_work() const {
        if (cancelled_) return false;
        return generating_ ? queue_.has_room() : prompt_ready() > 0;
    }

    // While it lives, under the session's lock, the worker leaves the source alone.
    class Pause {
      public:
        Pause(WorkerSession &session, std::unique_lock<std::mutex> &lock) : session_(session) {
            session.paused_ += 1;
            session.changed_.wait(lock, [&] { return !session.computing_; });
        }
        ~Pause() {
            session_.paused_ -= 1;
            session_.changed_.notify_all();
        }

      private:
        WorkerSession &session_;
    };

    void loop() {
        std::unique_lock lock(mutex_);
        for (;;) {
            changed_.wait(lock, [&] { return stopping_ || (paused_ == 0 && has_work()); });
            if (stopping_) return;
            computing_ = true;
            try {
                if (generating_) {
                    generate(lock);
                } else {
                    compute_prompt(lock);
                }
            } catch (const Failure &failure) {
                if (!lock.owns_lock()) lock.lock();
                if (!cancelled_) finish("error", failure.status(), failure.what());
            } catch (const std::exception &error) {
                if (!lock.owns_lock()) lock.lock();
                if (!cancelled_) {
                    finish(
                        "error", static_cast<int>(Code::NATIVE_FAULT),
                        error_text(Code::NATIVE_FAULT, error.what(),
                                   "reset the stream; if it happens again, please report it with the runtime's name"));
                }
            }
            computing_ = false;
            changed_.notify_all();
        }
    }

    void compute_prompt(std::unique_lock<std::mutex> &lock) {
        const size_t count = std::min(prompt_ready(), std::max<size_t>(1, ubatch_));
        const std::vector<int32_t> piece(prompt_.begin(), prompt_.begin() + static_cast<std::ptrdiff_t>(count));
        if (timing_.prefill_start == Clock::time_point{}) timing_.prefill_start = Clock::now();
        lock.unlock();
        source_->prefill(piece.data(), piece.size());
        lock.lock();
        sequence_.insert(sequence_.end(), piece.begin(), piece.end());
        prompt_.erase(prompt_.begin(), prompt_.begin() + static_cast<std::ptrdiff_t>(count));
        if (!prompt_.empty() || cancelled_) return;
        generating_ = true;
        generated_ = 0;
        utf8_.clear();
        stops_.clear();
    }

    void generate(std::unique_lock<std::mutex> &lock) {
        lock.unlock();
        const SourceStep step = source_->step();
        lock.lock();
        const Clock::time_point now = Clock::now();
        if (generated_ == 0) timing_.first_token = now;
        timing_.last_token = now;
        if (!step.end) {
            sequence_.push_back(step.id);
            generated_ += 1;
        }
        if (cancelled_) return;
        if (step.end) {
            finish("stop", ELIZA_OK, "");
            return;
        }
        queue_.push({step.id, stops_.push(utf8_.push(step.bytes)), step.drafted, step.accepted});
        if (!stops_.matched().empty()) {
            timing_.stop_sequence = stops_.matched();
            finish("stop", ELIZA_OK, "");
        } else if (max_tokens_ > 0 && generated_ >= max_tokens_) {
            finish("length", ELIZA_OK, "");
        } else if (static_cast<int32_t>(sequence_.size()) >= source_->context_size()) {
            finish("context", ELIZA_OK, "");
        } else {
            return;
        }
        source_->cancel(); // what it computes ahead
    }

    void finish(const char *reason, int status, const std::string &error) {
        generating_ = false;
        prompt_.clear();
        timing_.finish_reason = reason;
        const std::string rest = stops_.push(utf8_.flush()) + stops_.flush();
        queue_.finish(status, rest, error);
    }

    const char *finish_reason() const {
        if (timing_.finish_reason[0] != '\0') return timing_.finish_reason;
        if (cancelled_) return "cancelled";
        return queue_.expecting() || generating_ ? "running" : "none";
    }

    json generation_part() const {
        const double decode_ms = ms_between(timing_.first_token, timing_.last_token);
        const std::string &stop = timing_.stop_sequence;
        return {{"timing",
                 {{"promptTokens", timing_.prompt_tokens},
                  {"reusedTokens", timing_.reused_tokens},
                  {"prefillMs", ms_between(timing_.prefill_start, timing_.first_token)},
                  {"timeToFirstTokenMs", ms_between(timing_.asked, timing_.first_token)},
                  {"decodeTokens", generated_},
                  {"decodeMs", decode_ms},
                  {"tokensPerSecond", decode_ms > 0 ? (generated_ - 1) * 1000.0 / decode_ms : 0.0}}},
                {"finishReason", finish_reason()},
                {"stopSequence", stop.empty() ? json(nullptr) : json(stop)}};
    }

    int32_t keep(int32_t n_keep) {
        std::unique_lock lock(mutex_);
        cancelled_ = true;
        lock.unlock();
        source_->cancel();
        lock.lock();
        const Pause pause(*this, lock);
        if (stopping_) return 0;
        const int32_t kept = source_->keep(std::min(n_keep, static_cast<int32_t>(sequence_.size())));
        sequence_.resize(static_cast<size_t>(kept));
        prompt_.clear();
        generating_ = false;
        generated_ = 0;
        utf8_.clear();
        timing_ = WorkerTiming{};
        queue_.restart();
        started_ = run_ahead_;
        cancelled_ = false;
        return kept;
    }

    const std::string runtime_;
    const std::unique_ptr<TokenSource> source_;
    OutputQueue queue_;
    int32_t max_tokens_;
    size_t ubatch_;
    const bool run_ahead_;

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<int32_t> sequence_; // what the source holds
    std::deque<int32_t> prompt_;    // what it is to compute
    Utf8Assembler utf8_;
    StopMatcher stops_;
    WorkerTiming timing_;
    int32_t generated_ = 0;
    bool started_ = false; // the reader asked for output
    bool generating_ = false;
    bool computing_ = false; // the source is in use
    int paused_ = 0;
    bool cancelled_ = false;
    bool stopping_ = false;
    std::mutex stop_mutex_;
    std::thread thread_;
};

} // namespace

std::unique_ptr<LlmBackendSession> open_worker_session(const std::string &runtime, PollHub &hub,
                                                       std::unique_ptr<TokenSource> source,
                                                       const StreamOptions &options) {
    return std::make_unique<WorkerSession>(runtime, hub, std::move(source), options);
}

} // namespace eliza

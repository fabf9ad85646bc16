#include "runtimes/litert/plugin/sequence.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <tuple>
#include <utility>

#include "error/failure.h"
#include "runtimes/litert/plugin/prompt-text.h"
#include "runtimes/litert/plugin/time-limit.h"

namespace eliza::litert {

namespace {

constexpr int TOP_P = 2; // of the library's samplers; its greedy one is not implemented on a CPU
constexpr int TEXT_INPUT = 0;
constexpr int BEYOND_EVERY_STEP = 1 << 30;

Failure cancelled() { return Failure(Code::CANCELLED, "the generation was cancelled", "reset the stream"); }

// The handle of one input text.
class Input {
  public:
    Input(const LitertApi &api, const std::string &text)
        : api_(api), handle_(api.input_data_create(TEXT_INPUT, text.data(), text.size())) {}
    ~Input() { api_.input_data_delete(handle_); }
    Input(const Input &) = delete;
    const void *handle() const { return handle_; }

  private:
    const LitertApi &api_;
    void *handle_;
};

} // namespace

Sequence::Sequence(std::shared_ptr<Engine> engine, const Sampling &sampling, int32_t context_size)
    : engine_(std::move(engine)), api_(engine_->api), context_size_(context_size), sampling_(sampling) {
    make_session();
}

Sequence::~Sequence() {
    try {
        stop_run();
        delete_session();
    } catch (const std::exception &) {
        // The library did not come back: its session, and a run that it may still call, stay.
        new std::shared_ptr<DecodeRun>(run_);
    }
}

void Sequence::make_session() {
    void *sampler = api_.sampler_params_create(TOP_P);
    const bool greedy = sampling_.greedy();
    const bool has_top_p = sampling_.top_p > 0.0f && sampling_.top_p < 1.0f;
    const int32_t all = engine_->vocabulary.size();
    api_.sampler_params_set_top_k(sampler, greedy ? 1 : sampling_.top_k > 0 ? std::min(sampling_.top_k, all) : all);
    api_.sampler_params_set_top_p(sampler, greedy || !has_top_p ? 1.0f : sampling_.top_p);
    api_.sampler_params_set_temperature(sampler, greedy ? 1.0f : sampling_.temperature);
    api_.sampler_params_set_seed(sampler, static_cast<int32_t>(sampling_.seed));
    void *config = api_.session_config_create();
    api_.session_config_set_apply_prompt_template(config, false);
    api_.session_config_set_sampler_params(config, sampler);
    void *session = api_.engine_create_session(engine_->handle(), config);
    const std::string error = session == nullptr ? last_error(api_) : "";
    api_.session_config_delete(config);
    api_.sampler_params_delete(sampler);
    if (session == nullptr) {
        throw Failure(Code::CONTEXT_FAILED, "LiteRT-LM makes no session: " + error, "close other streams first");
    }
    session_ = session;
    held_ = 0;
    moved_ = false;
}

void Sequence::delete_session() {
    if (engine_->lost) return;
    void *const session = std::exchange(session_, nullptr);
    if (session == nullptr) return;
    const LitertApi *const api = &api_;
    // The engine must outlive a deletion that does not come back.
    if (!within_limit([api, session, keep = engine_] { api->session_delete(session); })) lose("closing a session");
}

void Sequence::lose(const std::string &doing) {
    engine_->lost = true;
    throw Failure(Code::NATIVE_FAULT,
                  "LiteRT-LM did not come back from " + doing + " within " + std::to_string(time_limit().count()) +
                      " ms",
                  "open the model again; ELIZA_LITERT_TIME_LIMIT_MS is how long it may take");
}

void Sequence::take_turn() {
    if (engine_->lost) {
        throw Failure(Code::NATIVE_FAULT, "LiteRT-LM stopped answering for this model", "open the model again");
    }
    if (!engine_->turn.take([this] { return cancelled_.load() || engine_->lost.load(); })) throw cancelled();
}

int32_t Sequence::current_step() const {
    // There is no function for it, but the refusal of a step that is too far names it.
    if (api_.session_rewind_to_step(session_, BEYOND_EVERY_STEP) == 0) return -1;
    const char *message = api_.get_last_error_message();
    const char *colon = message != nullptr ? std::strrchr(message, ':') : nullptr;
    return colon != nullptr ? static_cast<int32_t>(std::strtol(colon + 1, nullptr, 10)) : -1;
}

void Sequence::rewind(int32_t step) {
    if (api_.session_rewind_to_step(session_, step) == 0) return;
    throw Failure(Code::NATIVE_FAULT,
                  "LiteRT-LM does not rewind to step " + std::to_string(step) + ": " + last_error(api_),
                  "reset the stream");
}

void Sequence::settle() {
    if (moved_) {
        rewind(held_ == 0 ? 0 : static_cast<int32_t>(held_) + lead_);
        moved_ = false;
    }
    const int32_t *more = ids_.data() + held_;
    if (const size_t count = whole_characters(*engine_, more, ids_.size() - held_); count > 0) feed(more, count);
}

// Appends to what the library holds, which is `held_` tokens.
void Sequence::feed(const int32_t *ids, size_t count) {
    const int32_t start = engine_->start_token();
    const bool fresh = held_ == 0;
    const bool begins = fresh && start >= 0 && ids[0] == start;
    if (fresh) lead_ = start >= 0 && !begins ? 1 : 0;
    // The start token comes by itself, once.
    std::vector<std::string> texts = texts_for(*engine_, ids + (begins ? 1 : 0), count - (begins ? 1 : 0));
    if (texts.empty()) texts.emplace_back();
    struct Result {
        int status = 0;
        std::string error;
    };
    const auto result = std::make_shared<Result>();
    const LitertApi *const api = &api_;
    moved_ = true; // until it is known to have gone well
    const bool done = within_limit([result, api, texts, session = session_, keep = engine_] {
        std::deque<Input> inputs;
        std::vector<const void *> handles;
        for (const std::string &text : texts) handles.push_back(inputs.emplace_back(*api, text).handle());
        result->status = api->session_run_prefill(session, handles.data(), handles.size());
        if (result->status != 0) result->error = last_error(*api);
    });
    if (!done) lose("computing a prompt");
    if (cancelled_) throw cancelled();
    if (result->status != 0) {
        throw Failure(Code::NATIVE_FAULT, "LiteRT-LM did not take the prompt: " + result->error, "reset the stream");
    }
    moved_ = false;
    held_ += count;
}

void Sequence::prefill(const int32_t *ids, size_t count) {
    cancelled_ = false;
    stop_run();
    take_turn();
    const size_t before = ids_.size();
    try {
        ids_.insert(ids_.end(), ids, ids + count);
        settle();
    } catch (...) {
        ids_.resize(before);
        held_ = std::min(held_, before);
        if (!engine_->lost) engine_->turn.give();
        throw;
    }
    engine_->turn.give();
}

void Sequence::start_run() {
    take_turn();
    try {
        settle();
        if (held_ < ids_.size()) {
            throw Failure(Code::INVALID_ARGUMENT, "the sequence ends inside a character",
                          "LiteRT-LM takes text alone: go on to the character's end");
        }
    } catch (...) {
        if (!engine_->lost) engine_->turn.give();
        throw;
    }
    derived_ = 0;
    auto run = std::make_shared<DecodeRun>(*engine_, session_, sampling_.greedy());
    if (run->start()) {
        set_run(std::move(run));
        if (cancelled_) run_->request_cancel(); // it may have been asked before
        return;
    }
    moved_ = true;
    throw Failure(Code::NATIVE_FAULT, "LiteRT-LM does not generate: " + last_error(api_), "reset the stream");
}

void Sequence::set_run(std::shared_ptr<DecodeRun> run) {
    const std::lock_guard lock(run_mutex_);
    run_ = std::move(run);
}

void Sequence::stop_run() {
    if (run_ != nullptr) {
        if (engine_->lost) lose("a generation");
        if (!run_->cancel()) lose("a generation that was cancelled");
        set_run(nullptr);
        moved_ = true;
    }
    ready_.clear();
}

void Sequence::take_text(const std::string &text) {
    const Vocabulary &vocabulary = engine_->vocabulary;
    const std::vector<int32_t> ids = engine_->tokenize(text);
    derived_ += ids.size();
    std::string spelled;
    for (const int32_t id : ids) {
        const std::string bytes = vocabulary.contains(id) ? vocabulary.bytes(id) : "";
        spelled += bytes;
        ready_.push_back({id, vocabulary.contains(id) && vocabulary.is_control(id) ? "" : bytes});
    }
    if (spelled == text || ready_.empty()) return;
    // A tokenizer that changes text: the text is what was generated.
    for (size_t i = ready_.size() - ids.size(); i < ready_.size(); ++i) ready_[i].bytes.clear();
    ready_[ready_.size() - ids.size()].bytes = text;
}

bool Sequence::ended(const DecodeRun::Output &output) {
    if (output.end == DecodeRun::End::SILENT) lose("generating a token");
    set_run(nullptr);
    moved_ = true;
    switch (output.end) {
    case DecodeRun::End::STOPPED:
        // Each text was one run of tokens, and one token more ended the answer: then the ids are what the library holds.
        take_turn();
        if (current_step() == static_cast<int32_t>(held_ + derived_) + lead_ + 1) held_ += derived_;
        engine_->turn.give();
        return true;
    case DecodeRun::End::CANCELLED:
        if (cancelled_) throw cancelled();
        return false; // it made way; what was read is computed again as a prompt
    case DecodeRun::End::CONTEXT_FULL:
        throw Failure(Code::CONTEXT_FULL,
                      "the sequence has all " + std::to_string(engine_->max_tokens()) +
                          " tokens that the model can hold",
                      "keep fewer tokens");
    default:
        throw Failure(Code::NATIVE_FAULT, "LiteRT-LM failed to generate: " + output.error, "reset the stream");
    }
}

bool Sequence::step(eliza_plugin_token *token) {
    while (ready_.empty()) {
        if (cancelled_) throw cancelled();
        if (run_ == nullptr) start_run();
        const DecodeRun::Output output = run_->next();
        if (output.end == DecodeRun::End::NONE) {
            take_text(output.text);
        } else if (ended(output)) {
            return false;
        }
    }
    const Token next = std::move(ready_.front());
    ready_.pop_front();
    if (next.bytes.size() > sizeof(token->bytes)) {
        throw Failure(Code::NATIVE_FAULT, "a token of " + std::to_string(next.bytes.size()) + " bytes",
                      "please report this with the model's name");
    }
    token->id = next.id;
    token->byte_count = next.bytes.size();
    std::memcpy(token->bytes, next.bytes.data(), next.bytes.size());
    ids_.push_back(next.id);
    return true;
}

int32_t Sequence::keep(int32_t n_keep) {
    stop_run();
    const size_t count = std::min(static_cast<size_t>(std::max(0, n_keep)), ids_.size());
    ids_.resize(count);
    // The library takes no text that begins inside a character.
    const size_t whole = std::min(held_, whole_characters(*engine_, ids_.data(), count));
    if (whole < held_) moved_ = true;
    held_ = whole;
    cancelled_ = false;
    return static_cast<int32_t>(count);
}

void Sequence::cancel() {
    cancelled_ = true;
    // A prompt is computed to the end of its piece; the library leaves it no sooner.
    const std::lock_guard lock(run_mutex_);
    if (run_ != nullptr && !engine_->lost) run_->request_cancel();
}

void Sequence::set_sampling(const Sampling &sampling, bool new_seed) {
    const auto drawn = [](const Sampling &each) {
        return each.greedy() ? std::tuple(true, 0.0f, 0.0f, 0)
                             : std::tuple(false, each.temperature, each.top_p, each.top_k);
    };
    const bool same = drawn(sampling) == drawn(sampling_);
    if (same && (!new_seed || sampling.greedy())) return;
    stop_run();
    const uint32_t seed = new_seed ? sampling.seed : sampling_.seed;
    sampling_ = sampling;
    sampling_.seed = seed;
    delete_session();
    make_session();
}

} // namespace eliza::litert

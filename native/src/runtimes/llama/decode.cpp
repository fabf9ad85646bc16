#include "runtimes/llama/decode.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "error/failure.h"
#include "runtimes/llama/log-capture.h"

namespace eliza {

namespace {

// What llama_decode answers when its abort callback stopped it.
constexpr int32_t ABORTED = 2;

struct Share {
    Sequence *sequence;
    size_t prompt_tokens; // 0: its one generated token
    int32_t logits_at;    // index in the batch, -1: none asked for
};

// The last prompt token is computed only when somebody wants its answer: until then more prompt may come.
size_t prompt_ready(const Sequence &sequence) {
    const size_t left = sequence.prompt.size();
    return left > 0 && !sequence.started ? left - 1 : left;
}

bool has_generated_token(const Sequence &sequence) {
    return sequence.generating && sequence.pending != LLAMA_TOKEN_NULL && sequence.queue.has_room();
}

void add_token(llama_batch &batch, llama_token token, size_t position, llama_seq_id id, bool logits) {
    const int32_t at = batch.n_tokens++;
    batch.token[at] = token;
    batch.pos[at] = static_cast<llama_pos>(position);
    batch.n_seq_id[at] = 1;
    batch.seq_id[at][0] = id;
    batch.logits[at] = logits ? 1 : 0;
}

std::vector<Share> fill_batch(SharedContext &shared) {
    std::vector<Share> shares;
    llama_batch &batch = shared.batch;
    batch.n_tokens = 0;
    const auto room = [&] { return static_cast<size_t>(shared.pace.tokens() - batch.n_tokens); };
    for (Sequence *sequence : shared.sequences) {
        if (sequence == nullptr || sequence->cancelled || !has_generated_token(*sequence) || room() == 0) continue;
        shares.push_back({sequence, 0, batch.n_tokens});
        add_token(batch, sequence->pending, sequence->tokens.size(), sequence->id, true);
    }
    const size_t count = shared.sequences.size();
    for (size_t i = 0; i < count && room() > 0; ++i) {
        Sequence *sequence = shared.sequences[(shared.turn + i) % count];
        if (sequence == nullptr || sequence->cancelled || sequence->generating) continue;
        const size_t take = std::min(prompt_ready(*sequence), room());
        if (take == 0) continue;
        const bool last = take == sequence->prompt.size();
        for (size_t t = 0; t < take; ++t) {
            add_token(batch, sequence->prompt[t], sequence->tokens.size() + t, sequence->id, last && t + 1 == take);
        }
        shares.push_back({sequence, take, last ? batch.n_tokens - 1 : -1});
    }
    shared.turn = count > 0 ? (shared.turn + 1) % count : 0;
    return shares;
}

void finish(Sequence &sequence, const char *reason, int status, const std::string &error) {
    sequence.generating = false;
    sequence.prompt.clear();
    {
        const std::lock_guard lock(sequence.timing_mutex);
        sequence.timing.finish_reason = reason;
    }
    sequence.planned = static_cast<int32_t>(sequence.tokens.size());
    std::string rest = sequence.stops.push(sequence.utf8.flush()) + sequence.stops.flush();
    sequence.queue.finish(status, std::move(rest), error);
}

void fail(Sequence &sequence, const Failure &failure) { finish(sequence, "error", failure.status(), failure.what()); }

std::string piece(const llama_vocab *vocab, llama_token token) {
    char buffer[256];
    const int32_t length = llama_token_to_piece(vocab, token, buffer, sizeof(buffer), 0, false);
    if (length >= 0) return {buffer, static_cast<size_t>(length)};
    std::string text(static_cast<size_t>(-length), '\0');
    llama_token_to_piece(vocab, token, text.data(), -length, 0, false);
    return text;
}

bool all_finite(const float *logits, int32_t count) {
    float sum = 0.0f; // any NaN or infinity stays in the sum of products with zero
    for (int32_t i = 0; i < count; ++i) sum += logits[i] * 0.0f;
    return sum == 0.0f;
}

void sample(Sequence &sequence, llama_context *context, int32_t at, const llama_vocab *vocab) {
    const float *logits = llama_get_logits_ith(context, at);
    if (!all_finite(logits, llama_vocab_n_tokens(vocab))) {
        fail(sequence, Failure(Code::NUMERIC_FAULT,
                               "the model's output holds NaN or infinity after " +
                                   std::to_string(sequence.tokens.size()) + " tokens",
                               "try another cache type, or check the model file"));
        return;
    }
    const llama_token token = sequence.sampler->sample(logits);
    const int64_t now = llama_time_us();
    {
        const std::lock_guard lock(sequence.timing_mutex);
        if (sequence.generated == 0) sequence.timing.first_token_us = now;
        sequence.timing.last_token_us = now;
    }
    if (token == LLAMA_TOKEN_NULL || llama_vocab_is_eog(vocab, token)) {
        sequence.pending = LLAMA_TOKEN_NULL;
        finish(sequence, "stop", ELIZA_OK, "");
        return;
    }
    sequence.generating = true;
    sequence.pending = token;
    sequence.generated += 1;
    {
        const std::lock_guard lock(sequence.timing_mutex);
        sequence.timing.generated_tokens = sequence.generated;
    }
    sequence.queue.push({.id = token,
                         .text = sequence.stops.push(sequence.utf8.push(piece(vocab, token))),
                         .logprobs = sequence.sampler->logprobs(logits, token)});
    sequence.planned = static_cast<int32_t>(sequence.tokens.size()) + 1;
    if (!sequence.stops.matched().empty()) {
        {
            const std::lock_guard lock(sequence.timing_mutex);
            sequence.timing.stop_sequence = sequence.stops.matched();
        }
        finish(sequence, "stop", ELIZA_OK, "");
    } else if (sequence.max_tokens > 0 && sequence.generated >= sequence.max_tokens) {
        finish(sequence, "length", ELIZA_OK, "");
    } else if (sequence.planned >= sequence.context_size) {
        finish(sequence, "context", ELIZA_OK, "");
    }
}

// A recurrent state that was left in the middle of a batch is of no use.
void forget(Sequence &sequence) {
    llama_memory_seq_rm(llama_get_memory(sequence.shared->context.get()), sequence.id, -1, -1);
    sequence.tokens.clear();
    sequence.tell_held();
}

void fail_all(const std::vector<Share> &shares, int32_t status) {
    const std::string why = take_llama_errors();
    const Failure failure =
        status == 1 ? Failure(Code::CONTEXT_FULL, "the cache has no room for the batch",
                              "open the stream with a larger context")
                    : Failure(Code::NATIVE_FAULT,
                              "llama_decode answered " + std::to_string(status) + (why.empty() ? "" : ": ") + why,
                              "reset the stream; if it happens again, please report it with the model's name");
    for (const Share &share : shares) fail(*share.sequence, failure);
}

} // namespace

bool runnable(const Sequence &sequence) {
    if (sequence.cancelled) return false;
    if (sequence.generating) return has_generated_token(sequence);
    return prompt_ready(sequence) > 0;
}

void decode_step(SharedContext &shared, const llama_vocab *vocab) {
    const std::vector<Share> shares = fill_batch(shared);
    if (shares.empty()) return;
    const int64_t start = llama_time_us();
    for (const Share &share : shares) shared.computing.push_back(share.sequence);
    shared.pace.begin(start);
    const int32_t status = llama_decode(shared.context.get(), shared.batch);
    shared.pace.end(llama_time_us(), shared.batch.n_tokens, shared.can_leave());
    shared.computing.clear();
    if (status == ABORTED) {
        // What was computed of this batch is gone, and the others' tokens wait as before.
        take_llama_errors();
        if (!shared.rows_alone) {
            for (const Share &share : shares) forget(*share.sequence);
        }
        return;
    }
    if (status != 0) {
        fail_all(shares, status);
        return;
    }
    for (const Share &share : shares) {
        Sequence &sequence = *share.sequence;
        if (share.prompt_tokens > 0) {
            const auto end = sequence.prompt.begin() + static_cast<std::ptrdiff_t>(share.prompt_tokens);
            for (auto token = sequence.prompt.begin(); token != end; ++token) {
                sequence.sampler->accept(*token);
            }
            sequence.tokens.insert(sequence.tokens.end(), sequence.prompt.begin(), end);
            sequence.prompt.erase(sequence.prompt.begin(), end);
            const std::lock_guard lock(sequence.timing_mutex);
            if (sequence.timing.prefill_start_us == 0) sequence.timing.prefill_start_us = start;
        } else {
            sequence.tokens.push_back(sequence.pending);
        }
        sequence.tell_held();
        if (share.logits_at >= 0 && !sequence.cancelled) {
            try {
                sample(sequence, shared.context.get(), share.logits_at, vocab);
            } catch (const std::exception &error) {
                fail(sequence, Failure(Code::NATIVE_FAULT, std::string("sampling failed: ") + error.what(),
                                       "please report this with the model's name and the options"));
            }
        }
    }
}

} // namespace eliza

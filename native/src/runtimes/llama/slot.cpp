#include "runtimes/llama/slot.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "error/failure.h"
#include "llama-model.h"
#include "runtimes/llama/cache-types.h"
#include "runtimes/llama/decode.h"
#include "runtimes/llama/kv-report.h"
#include "runtimes/llama/log-capture.h"
#include "runtimes/llama/prefix.h"
#include "runtimes/llama/slot-file.h"

namespace eliza {

namespace {

SlotStamp stamp_of(const Engine &engine, const Sequence &sequence) {
    const auto kv = kv_report(engine, sequence);
    const ContextShape &shape = sequence.shared->shape;
    const auto identity = [](ggml_type type) {
        const std::string hash = cache_type_hash(type);
        return cache_type_name(type) + (hash.empty() ? "" : "@" + hash);
    };
    const LearnedMap *map = sequence.shared->map.get();
    return {std::string("llama.cpp ") + llama_version(),
            engine.fingerprint(),
            identity(shape.type_k),
            identity(shape.type_v),
            kv.at("graphRotationK"),
            kv.at("graphRotationV"),
            map != nullptr ? map->identity() : "",
            shape.exact.recent,
            shape.exact.sinks};
}

int32_t room_taken(const Slot &slot) { return static_cast<int32_t>(slot.tokens.size() + slot.waiting.size()); }

// A token outside the vocabulary would be read past the sampler's tables.
void check_tokens(const Slot &slot, const Sequence &sequence, const llama_vocab *vocab, const std::string &path) {
    if (room_taken(slot) >= sequence.context_size) {
        throw Failure(Code::CONTEXT_FULL,
                      "the slot holds " + std::to_string(room_taken(slot)) + " tokens, the stream has room for " +
                          std::to_string(sequence.context_size),
                      "open the stream with a larger context");
    }
    const int32_t vocabulary = llama_vocab_n_tokens(vocab);
    const auto known = [&](llama_token token) { return token >= 0 && token < vocabulary; };
    if (!std::ranges::all_of(slot.tokens, known) || !std::ranges::all_of(slot.waiting, known)) {
        throw Failure(Code::SLOT_INVALID, path + ": it holds a token outside the vocabulary",
                      "prefill the prompt instead, and save it again");
    }
}

std::vector<uint8_t> state_of(llama_context *context, llama_seq_id id) {
    std::vector<uint8_t> state(llama_state_seq_get_size(context, id));
    state.resize(llama_state_seq_get_data(context, state.data(), state.size(), id));
    return state;
}

} // namespace

int32_t save_slot(Engine &engine, Sequence &sequence, const std::string &path) {
    Slot slot;
    engine.run([&] {
        SharedContext &shared = *sequence.shared;
        while (runnable(sequence)) decode_step(shared, llama_model_get_vocab(engine.model()));
        slot.stamp = stamp_of(engine, sequence);
        slot.tokens = sequence.tokens;
        slot.waiting = sequence.outside_cache();
        slot.state = state_of(shared.context.get(), sequence.id);
    });
    write_slot(path, slot); // the engine goes on meanwhile
    return static_cast<int32_t>(slot.tokens.size());
}

int32_t restore_slot(Engine &engine, Sequence &sequence, const std::string &path) {
    SlotStamp expected;
    engine.run([&] { expected = stamp_of(engine, sequence); });
    const Slot slot = read_slot(path, expected);
    check_tokens(slot, sequence, llama_model_get_vocab(engine.model()), path);
    engine.run([&] {
        llama_context *context = sequence.shared->context.get();
        llama_memory_t memory = llama_get_memory(context);
        const auto end = static_cast<llama_pos>(slot.tokens.size());
        std::vector<uint8_t> before = sequence.tokens.empty() ? std::vector<uint8_t>() : state_of(context, sequence.id);
        take_llama_errors();
        llama_memory_seq_rm(memory, sequence.id, -1, -1);
        const size_t taken = llama_state_seq_set_data(context, slot.state.data(), slot.state.size(), sequence.id);
        const bool whole = taken == slot.state.size();
        if (!whole || llama_memory_seq_pos_max(memory, sequence.id) + 1 != end ||
            !holds_prefix(memory, engine.model()->hparams, sequence.id, end)) {
            const std::string why = whole ? "its positions are others" : take_llama_errors();
            llama_memory_seq_rm(memory, sequence.id, -1, -1);
            if (!before.empty() &&
                llama_state_seq_set_data(context, before.data(), before.size(), sequence.id) != before.size()) {
                sequence.tokens.clear();
                sequence.tell_held();
            }
            throw Failure(Code::SLOT_INVALID, path + ": llama.cpp refuses its state. " + why,
                          "prefill the prompt instead, and save it again");
        }
        sequence.tokens = slot.tokens;
        sequence.tell_held();
        sequence.waiting = slot.waiting;
        engine.start_anew(sequence);
        sequence.planned = room_taken(slot);
    });
    return static_cast<int32_t>(slot.tokens.size());
}

} // namespace eliza

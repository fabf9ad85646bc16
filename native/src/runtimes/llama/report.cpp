#include "runtimes/llama/report.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "runtimes/llama/kv-report.h"

namespace eliza {

namespace {

using nlohmann::json;

std::string token_text(const llama_vocab *vocab, llama_token token) {
    return token == LLAMA_TOKEN_NULL ? std::string() : std::string(llama_vocab_get_text(vocab, token));
}

json model_report(const Engine &engine) {
    const llama_model *model = engine.model();
    const llama_vocab *vocab = llama_model_get_vocab(model);
    const char *chat_template = llama_model_chat_template(model, nullptr);
    char description[128];
    llama_model_desc(model, description, sizeof(description));
    return {
        {"path", engine.path()},
        {"name", model_meta(model, "general.name")},
        {"architecture", model_meta(model, "general.architecture")},
        {"licence", model_meta(model, "general.license")},
        {"description", description},
        {"bytes", llama_model_size(model)},
        {"parameters", llama_model_n_params(model)},
        {"layers", llama_model_n_layer(model)},
        {"trainedContext", llama_model_n_ctx_train(model)},
        {"slidingWindow", llama_model_n_swa(model)},
        {"vocabulary", llama_vocab_n_tokens(vocab)},
        {"chatTemplate", chat_template != nullptr ? chat_template : ""},
        {"bosToken", token_text(vocab, llama_vocab_bos(vocab))},
        {"eosToken", token_text(vocab, llama_vocab_eos(vocab))},
        {"addBos", llama_vocab_get_add_bos(vocab)},
    };
}

// Where a text of users could be taken for the model's own markers, hosts ask for these.
json control_tokens(const llama_vocab *vocab) {
    json tokens = json::array();
    for (llama_token id = 0; id < llama_vocab_n_tokens(vocab); ++id) {
        const auto attributes = static_cast<uint32_t>(llama_vocab_get_attr(vocab, id));
        if ((attributes & (LLAMA_TOKEN_ATTR_CONTROL | LLAMA_TOKEN_ATTR_UNKNOWN)) == 0) continue;
        json entry = {{"id", id}, {"text", token_text(vocab, id)}};
        if ((attributes & LLAMA_TOKEN_ATTR_LSTRIP) != 0) entry["leftStrip"] = true;
        if ((attributes & LLAMA_TOKEN_ATTR_RSTRIP) != 0) entry["rightStrip"] = true;
        tokens.push_back(std::move(entry));
    }
    return tokens;
}

json model_part(const Engine &engine) {
    return {{"runtime", "llama.cpp"},
            {"runtimeVersion", llama_version()},
            {"device", describe_device(engine.n_gpu_layers())},
            {"model", model_report(engine)}};
}

// On the engine thread.
json cache_part(const Engine &engine, const Sequence &sequence) {
    const ContextShape &shape = sequence.shared->shape;
    return {{"context",
             {{"size", shape.context_size},
              {"beyondTrained", std::max(0, shape.context_size - llama_model_n_ctx_train(engine.model()))},
              {"used", sequence.tokens.size()},
              {"batchSize", shape.batch_size},
              {"ubatchSize", shape.ubatch_size},
              {"batchTokens", sequence.shared->pace.tokens()},
              {"threads", shape.threads},
              {"threadsReason", sequence.threads_reason},
              {"maxStreams", shape.max_streams}}},
            {"kv", kv_report(engine, sequence)}};
}

const char *finish_reason(const Sequence &sequence, const Timing &timing) {
    if (timing.finish_reason[0] != '\0') return timing.finish_reason;
    if (sequence.cancelled) return "cancelled";
    return sequence.queue.expecting() || sequence.generating ? "running" : "none";
}

json generation_part(Sequence &sequence) {
    const std::lock_guard lock(sequence.timing_mutex);
    const Timing &timing = sequence.timing;
    const auto ms = [](int64_t from, int64_t to) { return from > 0 && to > from ? double(to - from) / 1000.0 : 0.0; };
    const double decode_ms = ms(timing.first_token_us, timing.last_token_us);
    return {{"timing",
             {{"promptTokens", timing.prompt_tokens},
              {"reusedTokens", timing.reused_tokens},
              {"prefillMs", ms(timing.prefill_start_us, timing.first_token_us)},
              {"timeToFirstTokenMs", ms(timing.asked_us, timing.first_token_us)},
              {"decodeTokens", timing.generated_tokens},
              {"decodeMs", decode_ms},
              {"tokensPerSecond", decode_ms > 0 ? (timing.generated_tokens - 1) * 1000.0 / decode_ms : 0.0}}},
            {"finishReason", finish_reason(sequence, timing)},
            {"stopSequence", timing.stop_sequence.empty() ? json(nullptr) : json(timing.stop_sequence)}};
}

std::string text_of(const json &report) { return report.dump(-1, ' ', false, json::error_handler_t::replace); }

} // namespace

std::string llama_model_report(const Engine &engine) {
    json report = model_part(engine);
    report["model"]["controlTokens"] = control_tokens(llama_model_get_vocab(engine.model()));
    return text_of(report);
}

std::string llama_cache_report(Engine &engine, Sequence &sequence) {
    json report;
    engine.run([&] { report = cache_part(engine, sequence); });
    return text_of(report);
}

std::string llama_generation_report(Sequence &sequence) {
    json report = generation_part(sequence);
    report["used"] = sequence.held.load();
    return text_of(report);
}

std::string llama_report(Engine &engine, Sequence &sequence) {
    json report;
    engine.run([&] {
        report = model_part(engine);
        report.update(cache_part(engine, sequence));
    });
    report.update(generation_part(sequence));
    return text_of(report);
}

} // namespace eliza

#include "runtimes/llama/report.h"

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

json timing_report(Sequence &sequence) {
    const std::lock_guard lock(sequence.timing_mutex);
    const Timing &timing = sequence.timing;
    const auto ms = [](int64_t from, int64_t to) { return from > 0 && to > from ? double(to - from) / 1000.0 : 0.0; };
    const double decode_ms = ms(timing.first_token_us, timing.last_token_us);
    return {{"promptTokens", timing.prompt_tokens},
            {"reusedTokens", timing.reused_tokens},
            {"prefillMs", ms(timing.prefill_start_us, timing.first_token_us)},
            {"timeToFirstTokenMs", ms(timing.asked_us, timing.first_token_us)},
            {"decodeTokens", timing.generated_tokens},
            {"decodeMs", decode_ms},
            {"tokensPerSecond", decode_ms > 0 ? (timing.generated_tokens - 1) * 1000.0 / decode_ms : 0.0}};
}

} // namespace

std::string llama_report(Engine &engine, Sequence &sequence) {
    json report;
    engine.run([&] {
        const ContextShape &shape = sequence.shared->shape;
        report = {{"runtime", "llama.cpp"},
                  {"runtimeVersion", llama_version()},
                  {"device", describe_device(engine.n_gpu_layers())},
                  {"model", model_report(engine)},
                  {"context",
                   {{"size", shape.context_size},
                    {"used", sequence.tokens.size()},
                    {"batchSize", shape.batch_size},
                    {"ubatchSize", shape.ubatch_size},
                    {"threads", shape.threads},
                    {"maxStreams", shape.max_streams}}},
                  {"kv", kv_report(engine, sequence)}};
    });
    report["timing"] = timing_report(sequence);
    {
        const std::lock_guard lock(sequence.timing_mutex);
        report["finishReason"] = sequence.timing.finish_reason;
    }
    return report.dump(-1, ' ', false, json::error_handler_t::replace);
}

} // namespace eliza

#include "llama/report.h"

#include <nlohmann/json.hpp>

#include "llama-kv-cache-iswa.h"
#include "llama-kv-cache.h"
#include "llama-model.h"
#include "eliza_kv.h"
#include "llama/cache-types.h"

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

json cache_report(const llama_kv_cache *cache, const llama_hparams &hparams, const char *kind, uint64_t &measured) {
    json layers = json::array();
    const uint64_t cells = cache->get_size();
    const uint64_t streams = cache->get_n_stream();
    for (const uint32_t layer : cache->get_layer_ids()) {
        const ggml_tensor *k = cache->get_k_storage(static_cast<int32_t>(layer));
        const uint64_t v_bytes = ggml_row_size(cache->type_v(), hparams.n_embd_v_gqa(layer));
        layers.push_back({{"layer", layer},
                          {"headDimK", hparams.n_embd_head_k(layer)},
                          {"headDimV", hparams.n_embd_head_v(layer)},
                          {"kvHeads", hparams.n_head_kv(layer)},
                          {"k", cache_type_name(k->type)},
                          {"v", cache_type_name(cache->type_v())},
                          {"kBytesPerToken", ggml_nbytes(k) / (cells * streams)},
                          {"vBytesPerToken", v_bytes}});
    }
    uint64_t bytes = 0;
    for (const auto &[buffer_type, size] : cache->memory_breakdown()) bytes += size;
    measured += bytes;
    return {{"kind", kind}, {"cells", cells}, {"streams", streams}, {"bytes", bytes}, {"layers", layers}};
}

json kv_report(const Engine &engine, const Sequence &sequence) {
    const llama_hparams &hparams = engine.model()->hparams;
    const ContextShape &shape = sequence.pool->shape;
    const llama_memory_t memory = llama_get_memory(sequence.pool->context.get());
    json caches = json::array();
    uint64_t measured = 0;
    if (const auto *split = dynamic_cast<const llama_kv_cache_iswa *>(memory)) {
        caches.push_back(cache_report(split->get_base(), hparams, "full", measured));
        caches.push_back(cache_report(split->get_swa(), hparams, "sliding-window", measured));
    } else if (const auto *plain = dynamic_cast<const llama_kv_cache *>(memory)) {
        caches.push_back(cache_report(plain, hparams, "full", measured));
    } else {
        for (const auto &[buffer_type, size] : memory->memory_breakdown()) measured += size;
    }
    json shared = json::array();
    for (uint32_t layer = 0; layer < hparams.n_layer(); ++layer) {
        if (!hparams.has_kv(layer)) shared.push_back(layer);
    }
    const auto rotated = [](ggml_type type) {
        return ggml_is_quantized(type) && eliza_kv_wants_graph_rotation(type);
    };
    return {{"typeK", cache_type_name(shape.type_k)},
            {"typeV", cache_type_name(shape.type_v)},
            {"graphRotationK", rotated(shape.type_k)},
            {"graphRotationV", rotated(shape.type_v)},
            {"bytesPerToken", cache_bytes_per_token(hparams, shape.type_k, shape.type_v)},
            {"bytesComputed", cache_bytes(hparams, shape)},
            {"bytesTotal", measured},
            {"caches", caches},
            {"layersSharingKv", shared},
            {"kernels", eliza_kv_isa()}};
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
        const ContextShape &shape = sequence.pool->shape;
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

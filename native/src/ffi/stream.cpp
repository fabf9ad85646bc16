#include <atomic>
#include <cstdlib>
#include <memory>

#include <nlohmann/json.hpp>

#include "ffi/context.h"
#include "ffi/generation-options.h"
#include "ffi/hand-over.h"
#include "error/failure.h"
#include "ffi/stream-options.h"
#include "ffi/stream.h"
#include "select/llm-backend.h"
#include "streaming/output-queue.h"

using eliza::check_given;
using eliza::Code;
using eliza::Failure;
using eliza::guarded;
using eliza::hand_over;

namespace {

LlmBackendSession &session_of(EliLlmStream *stream) {
    if (stream == nullptr) throw Failure(Code::INVALID_ARGUMENT, "the stream is NULL", "open one first");
    return *stream->session;
}

// The session, if its runtime can do this; else the refusal names the capability.
LlmBackendSession &session_with(eliza::Capability capability, EliLlmStream *stream) {
    LlmBackendSession &session = session_of(stream);
    if (session.capabilities().has(capability)) return session;
    throw Failure(Code::NOT_IMPLEMENTED,
                  stream->runtime + " lacks the capability " + eliza::capability_name(capability),
                  "the stream's report lists what its runtime can do");
}

int take(EliLlmStream *stream, bool wait, int32_t *tokens_out, size_t tokens_cap, size_t *count_out, char *text_out,
         size_t text_cap, int32_t *drafted_out, int32_t *accepted_out, char **out_error) {
    return guarded(out_error, [&] {
        LlmBackendSession &session = session_of(stream);
        if (tokens_out == nullptr || tokens_cap == 0 || count_out == nullptr || text_out == nullptr || text_cap == 0) {
            throw Failure(Code::INVALID_ARGUMENT, "an output buffer is missing or empty",
                          "pass tokens, count and text buffers of at least 1");
        }
        eliza::NextOutput output;
        output.tokens = tokens_out;
        output.tokens_cap = tokens_cap;
        output.text = text_out;
        output.text_cap = text_cap;
        const int status = session.next(wait, &output, out_error);
        *count_out = output.count;
        stream->logprobs = "[" + output.logprobs + "]";
        stream->drafted += output.drafted;
        stream->accepted += output.accepted;
        if (drafted_out != nullptr) *drafted_out = output.drafted;
        if (accepted_out != nullptr) *accepted_out = output.accepted;
        return status;
    });
}

eliza::StreamOptions checked_options(EliInferenceContext *ctx, const eliza_llm_stream_config_t *config,
                                     const char *options_json) {
    if (ctx == nullptr || config == nullptr) {
        throw Failure(Code::INVALID_ARGUMENT, "the context or the config is NULL",
                      "create a context, and pass a config");
    }
    eliza::check_stream_config(*config);
    return eliza::parse_stream_options(options_json, *config);
}

// NULL with *out_error where a hard choice cannot be honoured.
LlmBackendFactory *choose_runtime(const EliInferenceContext &ctx, const eliza_llm_stream_config_t &config,
                                  const eliza::StreamOptions &options, std::vector<eliza::Candidate> &candidates,
                                  char **out_error) {
    llm_backend_register_builtins();
    char *refused = nullptr;
    LlmBackendFactory *factory = llm_backend_select(ctx.bundle.c_str(), &config, options, &candidates, &refused);
    if (refused == nullptr) return factory != nullptr ? factory : llm_backend_default();
    if (out_error != nullptr)
        *out_error = refused;
    else
        eliza_inference_free_string(refused);
    return nullptr;
}

nlohmann::json candidates_json(const std::vector<eliza::Candidate> &candidates) {
    auto list = nlohmann::json::array();
    for (const auto &[runtime, chosen, reason] : candidates) {
        list.push_back({{"runtime", runtime}, {"chosen", chosen}, {"reason", reason}});
    }
    return list;
}

// Which parts of a report the ABI adds to.
struct ReportParts {
    bool cache = false;
    bool generation = false;
};

int give_report(EliLlmStream *stream, int (LlmBackendSession::*report_of)(std::string *, char **), ReportParts parts,
                char **json_out, char **out_error) {
    return guarded(out_error, [&] {
        check_given(json_out != nullptr, "the output");
        std::string text;
        const int status = (session_of(stream).*report_of)(&text, out_error);
        if (status < 0) return status;
        auto report = nlohmann::json::parse(text);
        if (parts.cache) {
            report["abi"] = ELIZA_INFERENCE_ABI_VERSION;
            report["capabilities"] = stream->session->capabilities().names();
            report["candidates"] = candidates_json(stream->candidates);
        }
        if (parts.generation) {
            report["speculation"] = {{"drafted", stream->drafted.load()}, {"accepted", stream->accepted.load()}};
        }
        hand_over(report.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), json_out);
        return ELIZA_OK;
    });
}

} // namespace

EliLlmStream *eliza_inference_llm_stream_open_ex(EliInferenceContext *ctx, const eliza_llm_stream_config_t *config,
                                                 const char *options_json, char **out_error) {
    EliLlmStream *opened = nullptr;
    guarded(out_error, [&] {
        const eliza::StreamOptions options = checked_options(ctx, config, options_json);
        auto stream = std::make_unique<EliLlmStream>();
        stream->ctx = ctx;
        LlmBackendFactory *factory = choose_runtime(*ctx, *config, options, stream->candidates, out_error);
        if (factory == nullptr) return static_cast<int>(Code::BACKEND_UNAVAILABLE);
        stream->runtime = factory->name();
        stream->session.reset(factory->open(ctx, config, options, out_error));
        if (stream->session == nullptr) return static_cast<int>(Code::NATIVE_FAULT);
        stream->opened = options.generation;
        stream->session->output().set_owner(stream.get());
        opened = stream.get();
        ctx->add(std::move(stream));
        return ELIZA_OK;
    });
    return opened;
}

int eliza_inference_llm_stream_runtime(EliInferenceContext *ctx, const eliza_llm_stream_config_t *config,
                                       const char *options_json, char **json_out, char **out_error) {
    return guarded(out_error, [&] {
        check_given(json_out != nullptr, "the output");
        const eliza::StreamOptions options = checked_options(ctx, config, options_json);
        std::vector<eliza::Candidate> candidates;
        LlmBackendFactory *factory = choose_runtime(*ctx, *config, options, candidates, out_error);
        if (factory == nullptr) return static_cast<int>(Code::BACKEND_UNAVAILABLE);
        const nlohmann::json chosen{{"runtime", factory->name()}, {"candidates", candidates_json(candidates)}};
        hand_over(chosen.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), json_out);
        return ELIZA_OK;
    });
}

EliLlmStream *eliza_inference_llm_stream_open(EliInferenceContext *ctx, const eliza_llm_stream_config_t *config,
                                              char **out_error) {
    return eliza_inference_llm_stream_open_ex(ctx, config, nullptr, out_error);
}

int eliza_inference_llm_stream_prefill(EliLlmStream *stream, const int32_t *ids, size_t count, char **out_error) {
    return guarded(out_error, [&] {
        const int status = session_of(stream).prefill(ids, count, out_error);
        if (status >= 0) stream->drafted = 0;
        if (status >= 0) stream->accepted = 0;
        return status;
    });
}

int eliza_inference_llm_stream_next(EliLlmStream *stream, int32_t *tokens_out, size_t tokens_cap, size_t *count_out,
                                    char *text_out, size_t text_cap, int32_t *drafted_out, int32_t *accepted_out,
                                    char **out_error) {
    return take(stream, true, tokens_out, tokens_cap, count_out, text_out, text_cap, drafted_out, accepted_out,
                out_error);
}

int eliza_inference_llm_stream_try_next(EliLlmStream *stream, int32_t *tokens_out, size_t tokens_cap, size_t *count_out,
                                        char *text_out, size_t text_cap, int32_t *drafted_out, int32_t *accepted_out,
                                        char **out_error) {
    return take(stream, false, tokens_out, tokens_cap, count_out, text_out, text_cap, drafted_out, accepted_out,
                out_error);
}

int eliza_inference_llm_stream_logprobs(EliLlmStream *stream, char **json_out, char **out_error) {
    return guarded(out_error, [&] {
        check_given(json_out != nullptr, "the output");
        session_with(eliza::Capability::LOGPROBS, stream);
        hand_over(stream->logprobs, json_out);
        return ELIZA_OK;
    });
}

int eliza_inference_llm_stream_cancel(EliLlmStream *stream) {
    return guarded(nullptr, [&] { return session_of(stream).cancel(); });
}

int eliza_inference_llm_stream_reset(EliLlmStream *stream) {
    return guarded(nullptr, [&] { return session_of(stream).reset(); });
}

int eliza_inference_llm_stream_reset_keep(EliLlmStream *stream, int32_t n_keep) {
    return guarded(nullptr, [&] { return session_of(stream).reset_keep(n_keep); });
}

int eliza_inference_llm_stream_save_slot(EliLlmStream *stream, const char *filename, char **out_error) {
    return guarded(out_error,
                   [&] { return session_with(eliza::Capability::SLOTS, stream).save_slot(filename, out_error); });
}

int eliza_inference_llm_stream_restore_slot(EliLlmStream *stream, const char *filename, char **out_error) {
    return guarded(out_error,
                   [&] { return session_with(eliza::Capability::SLOTS, stream).restore_slot(filename, out_error); });
}

int eliza_inference_llm_stream_configure(EliLlmStream *stream, const char *options_json, char **out_error) {
    return guarded(out_error, [&] {
        LlmBackendSession &session = session_of(stream);
        const auto options = eliza::parse_generation_options(options_json, stream->opened);
        const std::string unmet = eliza::unmet_needs(eliza::needs_of(options), session.capabilities());
        if (!unmet.empty()) {
            throw Failure(Code::NOT_IMPLEMENTED, stream->runtime + ": " + unmet,
                          "the stream's report lists what its runtime can do");
        }
        return session.configure(options, out_error);
    });
}

void eliza_inference_llm_stream_close(EliLlmStream *stream) {
    if (stream == nullptr) return;
    guarded(nullptr, [&] {
        stream->ctx->close(stream);
        return ELIZA_OK;
    });
}

int eliza_inference_llm_stream_tokens(EliLlmStream *stream, int32_t **tokens_out, size_t *count_out, char **out_error) {
    return guarded(out_error, [&] {
        check_given(tokens_out != nullptr && count_out != nullptr, "an output");
        std::vector<int32_t> ids;
        const int status = session_with(eliza::Capability::TOKENS, stream).tokens(&ids, out_error);
        if (status >= 0) hand_over(ids, tokens_out, count_out);
        return status;
    });
}

int eliza_inference_llm_stream_tokenize(EliLlmStream *stream, const char *text, size_t text_bytes, int add_special,
                                        int parse_special, int32_t **tokens_out, size_t *count_out, char **out_error) {
    return guarded(out_error, [&] {
        check_given(text != nullptr && tokens_out != nullptr && count_out != nullptr, "the text or an output");
        std::vector<int32_t> ids;
        const int status = session_with(eliza::Capability::TOKENIZE, stream)
                               .tokenize(text, text_bytes, add_special != 0, parse_special != 0, &ids, out_error);
        if (status >= 0) hand_over(ids, tokens_out, count_out);
        return status;
    });
}

int eliza_inference_llm_stream_detokenize(EliLlmStream *stream, const int32_t *ids, size_t count, int special,
                                          char **text_out, char **out_error) {
    return guarded(out_error, [&] {
        check_given((ids != nullptr || count == 0) && text_out != nullptr, "the ids or the output");
        std::string text;
        const int status =
            session_with(eliza::Capability::DETOKENIZE, stream).detokenize(ids, count, special != 0, &text, out_error);
        if (status >= 0) hand_over(text, text_out);
        return status;
    });
}

int eliza_inference_llm_stream_report(EliLlmStream *stream, char **json_out, char **out_error) {
    return give_report(stream, &LlmBackendSession::report, {.cache = true, .generation = true}, json_out, out_error);
}

int eliza_inference_llm_stream_cache_report(EliLlmStream *stream, char **json_out, char **out_error) {
    return give_report(stream, &LlmBackendSession::cache_report, {.cache = true}, json_out, out_error);
}

int eliza_inference_llm_stream_generation_report(EliLlmStream *stream, char **json_out, char **out_error) {
    return give_report(stream, &LlmBackendSession::generation_report, {.generation = true}, json_out, out_error);
}

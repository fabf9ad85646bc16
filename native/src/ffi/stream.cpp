#include <cstdlib>
#include <memory>

#include <nlohmann/json.hpp>

#include "ffi/context.h"
#include "error/failure.h"
#include "ffi/stream-options.h"
#include "runtimes/llama/session.h"
#include "select/llm-backend.h"
#include "streaming/output-queue.h"

using eliza::Failure;
using eliza::guarded;

struct EliLlmStream {
    EliInferenceContext *ctx = nullptr;
    std::unique_ptr<LlmBackendSession> session;
    std::vector<eliza::Candidate> candidates;
};

namespace {

int null_stream(char **out_error) {
    eliza::set_error(out_error, "INVALID_ARG: the stream is NULL\nopen one first");
    return ELIZA_ERR_INVALID_ARG;
}

// A copy of token ids that eliza_inference_free_tokens frees.
void hand_over(const std::vector<int32_t> &ids, int32_t **tokens_out, size_t *count_out) {
    *tokens_out = static_cast<int32_t *>(std::malloc(std::max<size_t>(1, ids.size()) * sizeof(int32_t)));
    if (*tokens_out == nullptr) throw std::bad_alloc();
    std::copy(ids.begin(), ids.end(), *tokens_out);
    *count_out = ids.size();
}

int take(EliLlmStream *stream, bool wait, int32_t *tokens_out, size_t tokens_cap, size_t *count_out, char *text_out,
         size_t text_cap, int32_t *drafted_out, int32_t *accepted_out, char **out_error) {
    if (stream == nullptr) return null_stream(out_error);
    if (tokens_out == nullptr || tokens_cap == 0 || count_out == nullptr || text_out == nullptr || text_cap == 0) {
        eliza::set_error(out_error, "INVALID_ARG: an output buffer is missing or empty\n"
                                    "pass tokens, count and text buffers of at least 1");
        return ELIZA_ERR_INVALID_ARG;
    }
    return guarded(out_error, [&] {
        int32_t drafted = 0;
        int32_t accepted = 0;
        int status = 0;
        if (wait) {
            status = stream->session->next(tokens_out, tokens_cap, count_out, text_out, text_cap, &drafted, &accepted,
                                           out_error);
        } else {
            std::string error;
            status =
                stream->session->output().take(false, tokens_out, tokens_cap, count_out, text_out, text_cap, &error);
            if (status < 0) eliza::set_error(out_error, error);
        }
        if (drafted_out != nullptr) *drafted_out = drafted;
        if (accepted_out != nullptr) *accepted_out = accepted;
        return status;
    });
}

} // namespace

EliLlmStream *eliza_inference_llm_stream_open_ex(EliInferenceContext *ctx, const eliza_llm_stream_config_t *config,
                                                 const char *options_json, char **out_error) {
    EliLlmStream *opened = nullptr;
    guarded(out_error, [&] {
        if (ctx == nullptr || config == nullptr) {
            throw Failure(ELIZA_ERR_INVALID_ARG, "INVALID_ARG", "the context or the config is NULL",
                          "create a context, and pass a config");
        }
        eliza::check_stream_config(*config);
        const eliza::StreamOptions options = eliza::parse_stream_options(options_json);
        auto stream = std::make_unique<EliLlmStream>();
        stream->ctx = ctx;
        llm_backend_register_builtins();
        char *refused = nullptr;
        LlmBackendFactory *factory = llm_backend_select(ctx->bundle.c_str(), config, &stream->candidates, &refused);
        if (refused != nullptr) {
            *out_error = refused;
            return ELIZA_ERR_INVALID_ARG;
        }
        stream->session.reset(factory != nullptr ? factory->open(ctx, config, options, out_error)
                                                 : eliza::open_llama_session(*ctx, *config, options));
        if (stream->session == nullptr) return ELIZA_ERR_FFI_FAULT;
        stream->session->output().set_owner(stream.get());
        ctx->hub.add(&stream->session->output());
        opened = stream.release();
        return ELIZA_OK;
    });
    return opened;
}

EliLlmStream *eliza_inference_llm_stream_open(EliInferenceContext *ctx, const eliza_llm_stream_config_t *config,
                                              char **out_error) {
    return eliza_inference_llm_stream_open_ex(ctx, config, nullptr, out_error);
}

int eliza_inference_llm_stream_prefill(EliLlmStream *stream, const int32_t *ids, size_t count, char **out_error) {
    if (stream == nullptr) return null_stream(out_error);
    return guarded(out_error, [&] { return stream->session->prefill(ids, count, out_error); });
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

int eliza_inference_llm_stream_cancel(EliLlmStream *stream) {
    if (stream == nullptr) return ELIZA_ERR_INVALID_ARG;
    return guarded(nullptr, [&] { return stream->session->cancel(); });
}

int eliza_inference_llm_stream_reset(EliLlmStream *stream) {
    if (stream == nullptr) return ELIZA_ERR_INVALID_ARG;
    return guarded(nullptr, [&] { return stream->session->reset(); });
}

int eliza_inference_llm_stream_reset_keep(EliLlmStream *stream, int32_t n_keep) {
    if (stream == nullptr) return ELIZA_ERR_INVALID_ARG;
    return guarded(nullptr, [&] { return stream->session->reset_keep(n_keep); });
}

int eliza_inference_llm_stream_save_slot(EliLlmStream *stream, const char *filename, char **out_error) {
    if (stream == nullptr) return null_stream(out_error);
    return guarded(out_error, [&] { return stream->session->save_slot(filename, out_error); });
}

int eliza_inference_llm_stream_restore_slot(EliLlmStream *stream, const char *filename, char **out_error) {
    if (stream == nullptr) return null_stream(out_error);
    return guarded(out_error, [&] { return stream->session->restore_slot(filename, out_error); });
}

void eliza_inference_llm_stream_close(EliLlmStream *stream) {
    if (stream == nullptr) return;
    stream->ctx->hub.remove(&stream->session->output());
    guarded(nullptr, [&] {
        delete stream;
        return ELIZA_OK;
    });
}

int eliza_inference_llm_stream_tokens(EliLlmStream *stream, int32_t **tokens_out, size_t *count_out, char **out_error) {
    if (stream == nullptr) return null_stream(out_error);
    if (tokens_out == nullptr || count_out == nullptr) {
        eliza::set_error(out_error, "INVALID_ARG: an output is NULL\npass both");
        return ELIZA_ERR_INVALID_ARG;
    }
    return guarded(out_error, [&] {
        std::vector<int32_t> ids;
        const int status = stream->session->tokens(&ids, out_error);
        if (status >= 0) hand_over(ids, tokens_out, count_out);
        return status;
    });
}

int eliza_inference_llm_stream_tokenize(EliLlmStream *stream, const char *text, size_t text_bytes, int add_special,
                                        int parse_special, int32_t **tokens_out, size_t *count_out, char **out_error) {
    if (stream == nullptr) return null_stream(out_error);
    if (text == nullptr || tokens_out == nullptr || count_out == nullptr) {
        eliza::set_error(out_error, "INVALID_ARG: text or an output is NULL\npass all three");
        return ELIZA_ERR_INVALID_ARG;
    }
    return guarded(out_error, [&] {
        std::vector<int32_t> ids;
        const int status =
            stream->session->tokenize(text, text_bytes, add_special != 0, parse_special != 0, &ids, out_error);
        if (status >= 0) hand_over(ids, tokens_out, count_out);
        return status;
    });
}

int eliza_inference_llm_stream_detokenize(EliLlmStream *stream, const int32_t *ids, size_t count, int special,
                                          char **text_out, char **out_error) {
    if (stream == nullptr) return null_stream(out_error);
    if ((ids == nullptr && count > 0) || text_out == nullptr) {
        eliza::set_error(out_error, "INVALID_ARG: ids or text_out is NULL\npass both");
        return ELIZA_ERR_INVALID_ARG;
    }
    return guarded(out_error, [&] {
        std::string text;
        const int status = stream->session->detokenize(ids, count, special != 0, &text, out_error);
        if (status >= 0) *text_out = eliza::copy_string(text);
        return status;
    });
}

int eliza_inference_llm_stream_report(EliLlmStream *stream, char **json_out, char **out_error) {
    if (stream == nullptr) return null_stream(out_error);
    if (json_out == nullptr) {
        eliza::set_error(out_error, "INVALID_ARG: json_out is NULL\npass a place for the string");
        return ELIZA_ERR_INVALID_ARG;
    }
    return guarded(out_error, [&] {
        std::string text;
        const int status = stream->session->report(&text, out_error);
        if (status < 0) return status;
        auto report = nlohmann::json::parse(text);
        report["abi"] = ELIZA_INFERENCE_ABI_VERSION;
        auto &candidates = report["candidates"] = nlohmann::json::array();
        for (const eliza::Candidate &candidate : stream->candidates) {
            candidates.push_back(
                {{"runtime", candidate.runtime}, {"chosen", candidate.chosen}, {"reason", candidate.reason}});
        }
        *json_out = eliza::copy_string(report.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
        return ELIZA_OK;
    });
}

#include <nlohmann/json.hpp>

#include "eliza-inference-ffi.h"
#include "error/failure.h"
#include "ffi/context.h"
#include "ffi/hand-over.h"
#include "runtimes/llama/engine-registry.h"
#include "runtimes/llama/factory.h"
#include "runtimes/llama/report.h"
#include "runtimes/llama/vocabulary.h"

using eliza::check_given;
using eliza::Code;
using eliza::Failure;
using eliza::guarded;
using eliza::hand_over;

namespace {

eliza::EngineRegistry &models_of(EliInferenceContext *ctx) {
    check_given(ctx != nullptr, "the context");
    return eliza::llama_engines(ctx);
}

const llama_vocab *vocabulary_of(EliInferenceContext *ctx) {
    return llama_model_get_vocab(models_of(ctx).loaded().model());
}

} // namespace

int eliza_inference_model_load(EliInferenceContext *ctx, int32_t n_gpu_layers, char **out_error) {
    return guarded(out_error, [&] {
        eliza::EngineRegistry &models = models_of(ctx);
        if (n_gpu_layers < -1) {
            throw Failure(Code::INVALID_ARGUMENT, "n_gpu_layers is " + std::to_string(n_gpu_layers),
                          "give -1 for all, 0 for the CPU, or more");
        }
        models.engine(eliza::find_gguf(ctx->bundle), n_gpu_layers);
        return ELIZA_OK;
    });
}

int eliza_inference_model_load_progress(EliInferenceContext *ctx) {
    return guarded(nullptr, [&] { return models_of(ctx).load_progress(); });
}

int eliza_inference_model_load_cancel(EliInferenceContext *ctx) {
    return guarded(nullptr, [&] {
        models_of(ctx).cancel_load();
        return ELIZA_OK;
    });
}

int eliza_inference_model_report(EliInferenceContext *ctx, char **json_out, char **out_error) {
    return guarded(out_error, [&] {
        check_given(json_out != nullptr, "the output");
        auto report = nlohmann::json::parse(eliza::llama_model_report(models_of(ctx).loaded()));
        report["abi"] = ELIZA_INFERENCE_ABI_VERSION;
        hand_over(report.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), json_out);
        return ELIZA_OK;
    });
}

int eliza_inference_model_tokenize(EliInferenceContext *ctx, const char *text, size_t text_bytes, int add_special,
                                   int parse_special, int32_t **tokens_out, size_t *count_out, char **out_error) {
    return guarded(out_error, [&] {
        check_given(text != nullptr && tokens_out != nullptr && count_out != nullptr, "the text or an output");
        hand_over(eliza::tokenize(vocabulary_of(ctx), text, text_bytes, add_special != 0, parse_special != 0),
                  tokens_out, count_out);
        return ELIZA_OK;
    });
}

int eliza_inference_model_detokenize(EliInferenceContext *ctx, const int32_t *ids, size_t count, int special,
                                     char **text_out, char **out_error) {
    return guarded(out_error, [&] {
        check_given((ids != nullptr || count == 0) && text_out != nullptr, "the ids or the output");
        hand_over(eliza::detokenize(vocabulary_of(ctx), ids, count, special != 0), text_out);
        return ELIZA_OK;
    });
}

#include "ffi/context.h"

#include <algorithm>
#include <filesystem>

#include "error/failure.h"
#include "ffi/stream.h"
#include "ffi/thread-contexts.h"
#include "lifetime/stop-at-exit.h"
#include "select/llm-backend.h"

using eliza::Code;
using eliza::Failure;

EliInferenceContext::~EliInferenceContext() {
    eliza::forget_with_thread(this);
    for (const auto &stream : streams_) hub.remove(&stream->session->output());
}

void EliInferenceContext::add(std::unique_ptr<EliLlmStream> stream) {
    const std::lock_guard lock(mutex_);
    hub.add(&stream->session->output());
    streams_.push_back(std::move(stream));
}

std::unique_ptr<EliLlmStream> EliInferenceContext::take(EliLlmStream *stream) {
    const std::lock_guard lock(mutex_);
    const auto place = std::ranges::find(streams_, stream, &std::unique_ptr<EliLlmStream>::get);
    if (place == streams_.end()) return nullptr;
    std::unique_ptr<EliLlmStream> taken = std::move(*place);
    streams_.erase(place);
    return taken;
}

void EliInferenceContext::close(EliLlmStream *stream) {
    const std::unique_ptr<EliLlmStream> taken = take(stream);
    if (taken != nullptr) hub.remove(&taken->session->output());
}

const char *llm_backend_context_bundle_dir(const EliInferenceContext *ctx) {
    return ctx == nullptr ? nullptr : ctx->bundle.c_str();
}

eliza::PollHub &llm_backend_context_poll_hub(EliInferenceContext *ctx) { return ctx->hub; }

LlmBackendState &llm_backend_context_state(EliInferenceContext *ctx, const LlmBackendFactory *runtime,
                                           const std::function<std::unique_ptr<LlmBackendState>()> &make) {
    const std::lock_guard lock(ctx->states_mutex);
    std::unique_ptr<LlmBackendState> &state = ctx->states[runtime];
    if (state == nullptr) state = make();
    return *state;
}

EliInferenceContext *eliza_inference_create(const char *bundle, char **out_error) {
    EliInferenceContext *ctx = nullptr;
    eliza::guarded(out_error, [&] {
        if (bundle == nullptr || bundle[0] == '\0') {
            throw Failure(Code::INVALID_ARGUMENT, "no bundle was named", "pass a .gguf file or a bundle folder");
        }
        std::error_code code;
        if (!std::filesystem::exists(bundle, code)) {
            throw Failure(Code::MODEL_NOT_FOUND, std::string(bundle) + " does not exist",
                          "check the path, or pull the model first");
        }
        ctx = new EliInferenceContext(bundle);
        return ELIZA_OK;
    });
    return ctx;
}

void eliza_inference_destroy(EliInferenceContext *ctx) { delete ctx; }

int eliza_inference_end_with_thread(EliInferenceContext *ctx) {
    if (ctx == nullptr) return ELIZA_ERR_INVALID_ARG;
    return eliza::guarded(nullptr, [&] {
        eliza::end_with_thread(ctx);
        return ELIZA_OK;
    });
}

void eliza_inference_shutdown(void) { eliza::stop_everything(); }

int eliza_inference_llm_poll(EliInferenceContext *ctx, EliLlmStream **streams_out, size_t cap, int timeout_ms) {
    if (ctx == nullptr || streams_out == nullptr || cap == 0) return ELIZA_ERR_INVALID_ARG;
    return static_cast<int>(ctx->hub.wait(streams_out, cap, timeout_ms));
}

int eliza_inference_llm_poll_wake(EliInferenceContext *ctx) {
    if (ctx == nullptr) return ELIZA_ERR_INVALID_ARG;
    ctx->hub.wake();
    return ELIZA_OK;
}

int eliza_inference_mmap_acquire(EliInferenceContext *, const char *, char **out_error) {
    return eliza::not_implemented(out_error, "mmap_acquire");
}

int eliza_inference_mmap_evict(EliInferenceContext *, const char *, char **out_error) {
    return eliza::not_implemented(out_error, "mmap_evict");
}

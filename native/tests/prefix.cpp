#include "runtimes/llama/prefix.h"

#include <algorithm>

#include "check.h"
#include "llama-model.h"
#include "small-model.h"

namespace {

constexpr int32_t UBATCH = 64;
constexpr int32_t LENGTH = 420;

small::Context open(llama_model *model, ggml_type k, ggml_type v) {
    llama_context_params params = llama_context_default_params();
    params.n_ctx = 512;
    params.n_batch = params.n_ubatch = UBATCH;
    params.n_threads = params.n_threads_batch = 1;
    params.type_k = k;
    params.type_v = v;
    params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_ENABLED;
    return small::Context(llama_init_from_model(model, params));
}

// Tokens `from` to `to` of one fixed text at their positions.
void read(llama_context *context, int32_t from, int32_t to) {
    for (int32_t at = from; at < to; at += UBATCH) {
        EXPECT(small::decode(context, at, std::min(UBATCH, to - at), at));
    }
}

} // namespace

TEST("nothing is held of a sequence that is not there") {
    const small::Model model = small::make_window_model(24);
    const small::Context context = open(model.get(), GGML_TYPE_F16, GGML_TYPE_F16);
    llama_memory_t memory = llama_get_memory(context.get());
    EXPECT(eliza::holds_prefix(memory, model->hparams, 0, 0));
    EXPECT(!eliza::holds_prefix(memory, model->hparams, 0, 1));
    read(context.get(), 0, 10);
    EXPECT(eliza::holds_prefix(memory, model->hparams, 0, 10));
    EXPECT(!eliza::holds_prefix(memory, model->hparams, 0, 11));
    // llama.cpp keeps the window's rows and no others: an early prefix is gone, the whole is there.
    read(context.get(), 10, LENGTH);
    EXPECT(!eliza::holds_prefix(memory, model->hparams, 0, 10));
    EXPECT(eliza::holds_prefix(memory, model->hparams, 0, LENGTH));
}

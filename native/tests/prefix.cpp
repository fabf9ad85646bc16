#include "runtimes/llama/prefix.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "check.h"
#include "llama-model.h"
#include "small-model.h"

namespace {

constexpr int32_t UBATCH = 64;
constexpr int32_t LENGTH = 420;
constexpr int32_t MORE = 4;

small::Context open(llama_model *model, ggml_type k, ggml_type v) {
    llama_context_params params = llama_context_default_params();
    params.n_ctx = 512;
    params.n_batch = params.n_ubatch = UBATCH;
    params.n_threads = params.n_threads_batch = 1;
    params.type_k = k;
    params.type_v = v;
    params.swa_full = false;
    params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_ENABLED;
    return small::Context(llama_init_from_model(model, params));
}

// Tokens `from` to `to` of one fixed text at their positions.
void read(llama_context *context, int32_t from, int32_t to) {
    for (int32_t at = from; at < to; at += UBATCH) {
        EXPECT(small::decode(context, at, std::min(UBATCH, to - at), at));
    }
}

// What the model says after the first `cut` tokens and the next few.
std::vector<float> answer(llama_context *context, int32_t cut) {
    EXPECT(small::decode(context, cut, MORE, cut));
    const float *logits = llama_get_logits_ith(context, -1);
    return {logits, logits + small::VOCABULARY};
}

// The largest difference as a share of the largest logit.
float difference(const std::vector<float> &one, const std::vector<float> &other) {
    float most = 0.0f, scale = 0.0f;
    for (size_t i = 0; i < one.size(); ++i) {
        most = std::max(most, std::fabs(one[i] - other[i]));
        scale = std::max(scale, std::fabs(other[i]));
    }
    return most / scale;
}

} // namespace

TEST("a prefix is held exactly where going on from it gives a fresh sequence's logits") {
    const small::Model model = small::make_window_model(24);
    const llama_hparams &hparams = model->hparams;
    for (const auto &[k, v] : {std::pair{GGML_TYPE_F16, GGML_TYPE_F16}, std::pair{GGML_TYPE_Q8_0, GGML_TYPE_Q4_0}}) {
        // Batches of other sizes round otherwise: a half's last place in each of six layers, or a row that falls into
        // the next code. A row that is gone changes far more.
        const float rounding = k == GGML_TYPE_F16 ? 6 * 0x1p-11f : 3e-2f;
        int held = 0;
        int lost = 0;
        for (int32_t cut = 1; cut <= LENGTH; cut += cut > 360 || cut < 30 ? 1 : 23) {
            const small::Context one = open(model.get(), k, v);
            read(one.get(), 0, LENGTH);
            llama_memory_t memory = llama_get_memory(one.get());
            const bool holds = eliza::holds_prefix(memory, hparams, 0, cut);
            EXPECT(llama_memory_seq_rm(memory, 0, cut, -1));
            const std::vector<float> found = answer(one.get(), cut);

            const small::Context other = open(model.get(), k, v);
            read(other.get(), 0, cut);
            const float off = difference(found, answer(other.get(), cut));
            if (holds) EXPECT(off <= rounding);
            if (!holds) EXPECT(off > rounding);
            (holds ? held : lost) += 1;
        }
        EXPECT(held > 10 && lost > 30);
    }
}

TEST("nothing is held of a sequence that is not there") {
    const small::Model model = small::make_window_model(24);
    const small::Context context = open(model.get(), GGML_TYPE_F16, GGML_TYPE_F16);
    llama_memory_t memory = llama_get_memory(context.get());
    EXPECT(eliza::holds_prefix(memory, model->hparams, 0, 0));
    EXPECT(!eliza::holds_prefix(memory, model->hparams, 0, 1));
    read(context.get(), 0, 10);
    EXPECT(eliza::holds_prefix(memory, model->hparams, 0, 10));
    EXPECT(!eliza::holds_prefix(memory, model->hparams, 0, 11));
}

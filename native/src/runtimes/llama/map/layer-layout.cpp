#include "runtimes/llama/map/layer-layout.h"

#include <cmath>
#include <string>

#include "error/failure.h"
#include "llama-context.h"
#include "llama-model.h"

namespace eliza {

namespace {

[[noreturn]] void unsupported(const std::string &why) {
    throw Failure(Code::MAP_UNSUPPORTED, "this model can have no learned map: " + why,
                  "open it without a map (kv_map off)");
}

void check_model(const llama_model *model) {
    const llama_hparams &hparams = model->hparams;
    if (llama_model_is_recurrent(model) || llama_model_is_hybrid(model)) unsupported("it has recurrent layers");
    if (hparams.is_mla()) unsupported("it keeps a latent vector in place of keys and values");
    for (const llama_layer &layer : model->layers) {
        if (layer.attn_sinks != nullptr) unsupported("its attention has learned sinks");
    }
}

RopePairs rope_pairs(const llama_hparams &hparams, uint32_t layer) {
    if (!hparams.has_rope(layer)) return RopePairs::none;
    switch (hparams.rope_type) {
    case LLAMA_ROPE_TYPE_NONE:
        return RopePairs::none;
    case LLAMA_ROPE_TYPE_NORM:
        return RopePairs::neighbours;
    case LLAMA_ROPE_TYPE_NEOX:
        return RopePairs::halves;
    default:
        unsupported("its RoPE has several axes (type " + std::to_string(hparams.rope_type) + ")");
    }
}

std::vector<double> rope_frequencies(const llama_model *model, const llama_cparams &cparams, uint32_t layer) {
    const llama_layer &weights = model->layers[layer];
    if (cparams.yarn_ext_factor != 0.0f) unsupported("its RoPE is scaled by YaRN");
    if (weights.rope_long != nullptr || weights.rope_short != nullptr) {
        unsupported("its RoPE changes with the size of the context");
    }
    const auto pairs = static_cast<size_t>(model->hparams.n_rot(layer) / 2);
    const double base = model->get_rope_freq_base(cparams, static_cast<int>(layer));
    const double scale = model->get_rope_freq_scale(cparams, static_cast<int>(layer));
    std::vector<float> factors(pairs, 1.0f);
    if (const ggml_tensor *given = weights.rope_freqs) {
        if (given->type != GGML_TYPE_F32 || ggml_nelements(given) < static_cast<int64_t>(pairs)) {
            unsupported("its RoPE factors have an unknown form");
        }
        ggml_backend_tensor_get(given, factors.data(), 0, pairs * sizeof(float));
    }
    std::vector<double> frequencies(pairs);
    for (size_t i = 0; i < pairs; ++i) {
        frequencies[i] = scale * std::pow(base, -static_cast<double>(i) / static_cast<double>(pairs)) / factors[i];
    }
    return frequencies;
}

} // namespace

LayerLayout layer_shape(const llama_model *model, int32_t layer) {
    check_model(model);
    const llama_hparams &hparams = model->hparams;
    const auto at = static_cast<uint32_t>(layer);
    LayerLayout layout;
    layout.kv_heads = static_cast<int32_t>(hparams.n_head_kv(at));
    layout.head_dim_k = static_cast<int32_t>(hparams.n_embd_head_k(at));
    layout.head_dim_v = static_cast<int32_t>(hparams.n_embd_head_v(at));
    layout.window = hparams.is_swa(at) ? static_cast<int32_t>(hparams.n_swa) : 0;
    if (layout.kv_heads == 0 || hparams.n_head(at) % hparams.n_head_kv(at) != 0) {
        unsupported("layer " + std::to_string(layer) + " has no attention");
    }
    return layout;
}

std::vector<LayerLayout> layer_layout(const llama_model *model, const llama_context *context,
                                      const std::vector<int32_t> &sources) {
    const llama_cparams &cparams = context->get_cparams();
    std::vector<LayerLayout> layouts;
    for (uint32_t layer = 0; layer < model->hparams.n_layer(); ++layer) {
        LayerLayout layout = layer_shape(model, static_cast<int32_t>(layer));
        layout.source = sources.at(layer);
        layout.rope = rope_pairs(model->hparams, layer);
        if (layout.rope != RopePairs::none) layout.frequencies = rope_frequencies(model, cparams, layer);
        layouts.push_back(std::move(layout));
    }
    return layouts;
}

} // namespace eliza

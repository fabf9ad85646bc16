#include "small-model.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <random>
#include <utility>
#include <vector>

#include "gguf.h"

namespace small {

namespace {

constexpr uint32_t WIDTH = 128;
constexpr uint32_t HEADS = 4;

void fill(ggml_tensor *tensor, void *user) {
    const uint32_t head_dim = *static_cast<uint32_t *>(user);
    const std::string name = ggml_get_name(tensor);
    std::vector<float> values(static_cast<size_t>(ggml_nelements(tensor)), 1.0f);
    if (name.find("norm") == std::string::npos) {
        std::mt19937 random(static_cast<uint32_t>(std::hash<std::string>{}(name)));
        std::normal_distribution<float> normal(0.0f, 1.0f / std::sqrt(static_cast<float>(tensor->ne[0])));
        for (float &value : values) value = normal(random);
    }
    if (name.find("attn_k.") != std::string::npos || name.find("attn_v.") != std::string::npos) {
        for (size_t row = 0; row < static_cast<size_t>(tensor->ne[1]); ++row) {
            const size_t channel = row % head_dim;
            if (channel != 3 && channel != 30 && channel != head_dim - 7) continue;
            for (size_t i = 0; i < WIDTH; ++i) values[row * WIDTH + i] *= 12.0f;
        }
    }
    ggml_backend_tensor_set(tensor, values.data(), 0, values.size() * sizeof(float));
}

} // namespace

Model make_model(uint32_t head_dim, uint32_t layers) {
    llama_log_set([](ggml_log_level, const char *, void *) {}, nullptr);
    llama_backend_init();
    gguf_context *metadata = gguf_init_empty();
    gguf_set_val_str(metadata, "general.architecture", "llama");
    gguf_set_val_str(metadata, "tokenizer.ggml.model", "none");
    gguf_set_val_u32(metadata, "llama.vocab_size", VOCABULARY);
    gguf_set_val_u32(metadata, "llama.context_length", 256);
    gguf_set_val_u32(metadata, "llama.embedding_length", WIDTH);
    gguf_set_val_u32(metadata, "llama.feed_forward_length", WIDTH);
    gguf_set_val_u32(metadata, "llama.block_count", layers);
    gguf_set_val_u32(metadata, "llama.attention.head_count", HEADS);
    gguf_set_val_u32(metadata, "llama.attention.head_count_kv", KV_HEADS);
    gguf_set_val_u32(metadata, "llama.attention.key_length", head_dim);
    gguf_set_val_u32(metadata, "llama.attention.value_length", head_dim);
    gguf_set_val_u32(metadata, "llama.rope.dimension_count", head_dim);
    gguf_set_val_f32(metadata, "llama.attention.layer_norm_rms_epsilon", 1e-5f);
    llama_model_params params = llama_model_default_params();
    params.n_gpu_layers = 0;
    Model model(llama_model_init_from_user(metadata, fill, &head_dim, params));
    gguf_free(metadata);
    return model;
}

Model make_window_model(uint32_t window) {
    llama_log_set([](ggml_log_level, const char *, void *) {}, nullptr);
    llama_backend_init();
    constexpr uint32_t HEAD_DIM = 64;
    gguf_context *metadata = gguf_init_empty();
    gguf_set_val_str(metadata, "general.architecture", "gemma3");
    gguf_set_val_str(metadata, "tokenizer.ggml.model", "none");
    for (const auto &[key, value] :
         std::initializer_list<std::pair<const char *, uint32_t>>{{"vocab_size", VOCABULARY},
                                                                  {"context_length", 1024},
                                                                  {"embedding_length", WIDTH},
                                                                  {"feed_forward_length", WIDTH},
                                                                  {"block_count", 6},
                                                                  {"attention.head_count", HEADS},
                                                                  {"attention.head_count_kv", KV_HEADS},
                                                                  {"attention.key_length", HEAD_DIM},
                                                                  {"attention.value_length", HEAD_DIM},
                                                                  {"attention.sliding_window", window},
                                                                  {"rope.dimension_count", HEAD_DIM}}) {
        gguf_set_val_u32(metadata, (std::string("gemma3.") + key).c_str(), value);
    }
    gguf_set_val_f32(metadata, "gemma3.attention.layer_norm_rms_epsilon", 1e-5f);
    gguf_set_val_f32(metadata, "gemma3.rope.freq_base", 10000.0f);
    llama_model_params params = llama_model_default_params();
    params.n_gpu_layers = 0;
    uint32_t head_dim = HEAD_DIM;
    Model model(llama_model_init_from_user(metadata, fill, &head_dim, params));
    gguf_free(metadata);
    return model;
}

Context make_context(llama_model *model, ggml_type k, ggml_type v) {
    llama_context_params params = llama_context_default_params();
    params.n_ctx = params.n_batch = params.n_ubatch = 256;
    params.n_threads = params.n_threads_batch = 1;
    params.type_k = k;
    params.type_v = v;
    params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_ENABLED;
    return Context(llama_init_from_model(model, params));
}

bool decode(llama_context *context, int32_t first, int32_t count, int32_t position) {
    llama_batch batch = llama_batch_init(count, 0, 1);
    batch.n_tokens = count;
    for (int32_t i = 0; i < count; ++i) {
        batch.token[i] = (first + i) * 29 % VOCABULARY;
        batch.pos[i] = position + i;
        batch.n_seq_id[i] = 1;
        batch.seq_id[i][0] = 0;
        batch.logits[i] = i == count - 1;
    }
    const bool done = llama_decode(context, batch) == 0;
    llama_batch_free(batch);
    return done;
}

} // namespace small

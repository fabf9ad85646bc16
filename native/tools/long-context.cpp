// eliza-long-context MODEL TYPE_K TYPE_V PROMPT GENERATED THREADS: reads a prompt of so many tokens, then goes on one
// token at a time. Prints JSON: tokens a second of both. The ids are arbitrary: time does not depend on them.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "ggml.h"
#include "llama.h"
#include "open-model.h"

namespace {

[[noreturn]] void fail(const std::string &message) {
    std::fprintf(stderr, "eliza-long-context: %s\n", message.c_str());
    std::exit(1);
}

// A cache name has a type for each tile, and the mixed ones for each head size; the widest tile that fits serves.
ggml_type type_by_name(const std::string &name, int head_dim) {
    for (const std::string &full : {name, name + "_" + std::to_string(head_dim), name + "_64"}) {
        for (int i = 0; i < GGML_TYPE_COUNT; ++i) {
            const auto type = static_cast<ggml_type>(i);
            const int64_t block = ggml_blck_size(type);
            if (block > 0 && full == ggml_type_name(type) && head_dim % block == 0) return type;
        }
    }
    fail("no type is named " + name);
}

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 7) fail("usage: eliza-long-context MODEL TYPE_K TYPE_V PROMPT GENERATED THREADS");
    const int prompt = std::atoi(argv[4]);
    const int generated = std::atoi(argv[5]);
    start_llama();
    llama_model *model = open_model(argv[1], 0);
    if (model == nullptr) fail("cannot load the model");
    char head[32] = "";
    char architecture[64] = "";
    llama_model_meta_val_str(model, "general.architecture", architecture, sizeof(architecture));
    const std::string key = std::string(architecture) + ".attention.key_length";
    const bool named = llama_model_meta_val_str(model, key.c_str(), head, sizeof(head)) > 0;
    const int head_dim = named ? std::atoi(head) : llama_model_n_embd(model) / llama_model_n_head(model);

    llama_context_params params = llama_context_default_params();
    params.n_ctx = static_cast<uint32_t>((prompt + generated + 255) / 256 * 256);
    params.n_batch = params.n_ubatch = 512;
    params.n_threads = params.n_threads_batch = std::atoi(argv[6]);
    params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_ENABLED;
    params.type_k = type_by_name(argv[2], head_dim);
    params.type_v = type_by_name(argv[3], head_dim);
    params.swa_full = false;
    llama_context *context = llama_init_from_model(model, params);
    if (context == nullptr) fail("cannot make the context");

    std::vector<llama_token> tokens(static_cast<size_t>(prompt));
    for (int i = 0; i < prompt; ++i) tokens[static_cast<size_t>(i)] = (i * 37 + 11) % 1000;
    auto start = std::chrono::steady_clock::now();
    for (int at = 0; at < prompt; at += 512) {
        const int count = prompt - at < 512 ? prompt - at : 512;
        if (llama_decode(context, llama_batch_get_one(tokens.data() + at, count)) != 0) fail("decode failed");
    }
    llama_synchronize(context);
    const double prompt_seconds = seconds_since(start);
    start = std::chrono::steady_clock::now();
    for (int i = 0; i < generated; ++i) {
        llama_token token = (i * 53 + 7) % 1000;
        if (llama_decode(context, llama_batch_get_one(&token, 1)) != 0) fail("decode failed");
        llama_synchronize(context);
    }
    std::printf("{\"prompt\":%.3f,\"decode\":%.3f}\n", prompt / prompt_seconds, generated / seconds_since(start));
    llama_free(context);
    llama_model_free(model);
    return 0;
}

// eliza-logits MODEL TOKENS_FILE [key=value...]: raw float32 logits of every position on standard output.
//
// The tokens are decimal ids, separated by white space. Keys: k, v (cache types), threads, ubatch. The same source
// builds against llama.cpp with and without edits, so that the two can be compared bit by bit.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "ggml.h"
#include "llama.h"

namespace {

[[noreturn]] void fail(const std::string &message) {
    std::fprintf(stderr, "eliza-logits: %s\n", message.c_str());
    std::exit(1);
}

ggml_type type_by_name(const std::string &name) {
    for (int type = 0; type < GGML_TYPE_COUNT; ++type) {
        const auto candidate = static_cast<ggml_type>(type);
        if (ggml_blck_size(candidate) > 0 && name == ggml_type_name(candidate)) return candidate;
    }
    fail("no type is named " + name);
}

} // namespace

int main(int argc, char **argv) {
    if (argc < 3) fail("usage: eliza-logits MODEL TOKENS_FILE [k=TYPE] [v=TYPE] [threads=N] [ubatch=N]");
    std::map<std::string, std::string> options{{"k", "f16"}, {"v", "f16"}, {"threads", "2"}, {"ubatch", "512"}};
    for (int i = 3; i < argc; ++i) {
        const char *equals = std::strchr(argv[i], '=');
        if (equals == nullptr) fail(std::string("not key=value: ") + argv[i]);
        options[std::string(argv[i], static_cast<size_t>(equals - argv[i]))] = equals + 1;
    }
    std::vector<llama_token> tokens;
    std::ifstream file(argv[2]);
    for (llama_token token; file >> token;) tokens.push_back(token);
    if (tokens.empty()) fail("no tokens");

    llama_log_set([](ggml_log_level level, const char *text, void *) {
        if (level == GGML_LOG_LEVEL_ERROR) std::fputs(text, stderr);
    }, nullptr);
    llama_backend_init();
    llama_model_params model_params = llama_model_default_params();
    model_params.n_gpu_layers = 0;
    llama_model *model = llama_model_load_from_file(argv[1], model_params);
    if (model == nullptr) fail("cannot load the model");
    llama_context_params params = llama_context_default_params();
    params.n_ctx = static_cast<uint32_t>(tokens.size());
    params.n_batch = params.n_ctx;
    params.n_ubatch = static_cast<uint32_t>(std::stoul(options["ubatch"]));
    params.n_outputs_max = 0;
    params.n_outputs_max_per_seq = params.n_ctx;
    params.n_threads = params.n_threads_batch = std::stoi(options["threads"]);
    params.type_k = type_by_name(options["k"]);
    params.type_v = type_by_name(options["v"]);
    params.swa_full = false;
    llama_context *context = llama_init_from_model(model, params);
    if (context == nullptr) fail("cannot make the context");

    llama_batch batch = llama_batch_init(static_cast<int32_t>(tokens.size()), 0, 1);
    for (size_t i = 0; i < tokens.size(); ++i) {
        batch.token[i] = tokens[i];
        batch.pos[i] = static_cast<llama_pos>(i);
        batch.n_seq_id[i] = 1;
        batch.seq_id[i][0] = 0;
        batch.logits[i] = 1;
    }
    batch.n_tokens = static_cast<int32_t>(tokens.size());
    if (llama_decode(context, batch) != 0) fail("decode failed");
    const auto vocabulary = static_cast<size_t>(llama_vocab_n_tokens(llama_model_get_vocab(model)));
    for (size_t i = 0; i < tokens.size(); ++i) {
        std::fwrite(llama_get_logits_ith(context, static_cast<int32_t>(i)), sizeof(float), vocabulary, stdout);
    }
    llama_batch_free(batch);
    llama_free(context);
    llama_model_free(model);
    return 0;
}

// eliza-long-context MODEL CACHE PROMPT GENERATED THREADS [map=FILE]: reads a prompt of so many tokens, then goes on one
// token at a time. CACHE is K/V, K/V~W,S with the latest W tokens and the first S kept exact, K/V~W,S+map through the
// learned map. Prints JSON: tokens a second of both. The ids are arbitrary: time does not
// depend on them.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <string>
#include <vector>

#include "cache-context.h"
#include "llama.h"
#include "open-model.h"

namespace {

[[noreturn]] void fail(const std::string &message) {
    std::fprintf(stderr, "eliza-long-context: %s\n", message.c_str());
    std::exit(1);
}

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

} // namespace

int main(int argc, char **argv) try {
    if (argc != 6 && argc != 7) fail("usage: eliza-long-context MODEL CACHE PROMPT GENERATED THREADS [map=FILE]");
    const Cache cache = parse_cache(argv[2]);
    const int prompt = std::atoi(argv[3]);
    const int generated = std::atoi(argv[4]);
    std::map<std::string, std::string> maps;
    if (argc == 7) {
        const std::string map = argv[6];
        if (map.rfind("map=", 0) != 0) fail("not map=FILE: " + map);
        maps["map"] = map.substr(4);
    }
    start_llama();
    llama_model *model = open_model(argv[1], 0);
    if (model == nullptr) fail("cannot load the model");

    llama_context_params params = llama_context_default_params();
    params.n_ctx = static_cast<uint32_t>((prompt + generated + 255) / 256 * 256);
    params.n_batch = params.n_ubatch = 512;
    params.n_threads = params.n_threads_batch = std::atoi(argv[5]);
    MappedContext made = make_context(model, cache, params, maps);
    if (!made) fail("cannot make the context");
    llama_context *context = made.get();

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
    made = {}; // before its model
    llama_model_free(model);
    return 0;
} catch (const std::exception &error) {
    fail(error.what());
}

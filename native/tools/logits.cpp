// eliza-logits MODEL TOKENS_FILE [key=value...]: raw float32 logits of every position on standard output.
//
// The tokens are decimal ids, separated by white space. Keys: k, v (cache types), threads, ubatch; flash (0: without
// flash attention, which keeps a float32 cache float32 to the end); shift, tokens to drop from the front after two
// thirds, the rest moving up; sequences, copies of the text computed side by side, of which the last is written;
// unified (1: they share one stream of cells); step, how many tokens of each are decoded at a time (0: all); map, a
// solved learned map; exact, as W,S: the latest W tokens and the first S stay f16 beside a coded cache. The same source
// builds against llama.cpp with and without edits, so that the two can be compared bit by bit.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ggml.h"
#include "llama.h"
#include "open-model.h"
#ifdef ELIZA_MAPS
#include "runtimes/llama/map/learned-map.h"
#endif

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
    if (argc < 3) fail("usage: eliza-logits MODEL TOKENS_FILE [key=value...]");
    std::map<std::string, std::string> options{{"k", "f16"},   {"v", "f16"},   {"threads", "2"},   {"ubatch", "512"},
                                               {"flash", "1"}, {"shift", "0"}, {"sequences", "1"}, {"map", ""},
                                               {"exact", ""},  {"step", "0"},  {"unified", "0"}};
    for (int i = 3; i < argc; ++i) {
        const char *equals = std::strchr(argv[i], '=');
        if (equals == nullptr) fail(std::string("not key=value: ") + argv[i]);
        options[std::string(argv[i], static_cast<size_t>(equals - argv[i]))] = equals + 1;
    }
    std::vector<llama_token> tokens;
    std::ifstream file(argv[2]);
    for (llama_token token; file >> token;) tokens.push_back(token);
    if (tokens.empty()) fail("no tokens");

    start_llama();
    llama_model *model = open_model(argv[1], 0);
    if (model == nullptr) fail("cannot load the model");
    llama_context_params params = llama_context_default_params();
    const auto sequences = std::stoi(options["sequences"]);
    params.n_ctx = static_cast<uint32_t>(tokens.size() * static_cast<size_t>(sequences));
    params.n_seq_max = static_cast<uint32_t>(sequences);
    params.n_batch = params.n_ctx;
    params.n_ubatch = static_cast<uint32_t>(std::stoul(options["ubatch"]));
    params.n_outputs_max = 0;
    params.n_outputs_max_per_seq = params.n_ctx;
    params.n_threads = params.n_threads_batch = std::stoi(options["threads"]);
    params.type_k = type_by_name(options["k"]);
    params.type_v = type_by_name(options["v"]);
    if (options["flash"] == "0") params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
    params.swa_full = false;
    params.kv_unified = options["unified"] == "1";
#ifdef ELIZA_MAPS
    if (!options["exact"].empty()) {
        char *end = nullptr;
        params.exact_recent = static_cast<uint32_t>(std::strtoul(options["exact"].c_str(), &end, 10));
        if (*end == ',') params.exact_sinks = static_cast<uint32_t>(std::strtoul(end + 1, nullptr, 10));
    }
    std::unique_ptr<eliza::LearnedMap> map;
    if (!options["map"].empty()) {
        try {
            map = std::make_unique<eliza::LearnedMap>(options["map"], model, params.type_k, params.type_v, false);
        } catch (const std::exception &error) {
            fail(error.what());
        }
        params.kv_map = map->graph();
    }
#else
    if (!options["map"].empty() || !options["exact"].empty())
        fail("llama.cpp without edits takes no map and no window");
#endif
    llama_context *context = llama_init_from_model(model, params);
    if (context == nullptr) fail("cannot make the context");
#ifdef ELIZA_MAPS
    try {
        if (map != nullptr) map->check_sharing(context);
    } catch (const std::exception &error) {
        fail(error.what());
    }
#endif

    const auto shift = std::stoi(options["shift"]);
    const size_t before_shift = shift > 0 ? tokens.size() * 2 / 3 : tokens.size();
    const auto vocabulary = static_cast<size_t>(llama_vocab_n_tokens(llama_model_get_vocab(model)));
    llama_batch batch = llama_batch_init(static_cast<int32_t>(params.n_batch), 0, 1);
    const auto decode = [&](size_t from, size_t to, int32_t moved) {
        batch.n_tokens = 0;
        for (int32_t sequence = 0; sequence < sequences; ++sequence) {
            for (size_t i = from; i < to; ++i) {
                const int32_t at = batch.n_tokens++;
                batch.token[at] = tokens[i];
                batch.pos[at] = static_cast<llama_pos>(i) - moved;
                batch.n_seq_id[at] = 1;
                batch.seq_id[at][0] = sequence;
                batch.logits[at] = 1;
            }
        }
        if (llama_decode(context, batch) != 0) fail("decode failed");
        for (int32_t i = batch.n_tokens - static_cast<int32_t>(to - from); i < batch.n_tokens; ++i) {
            std::fwrite(llama_get_logits_ith(context, i), sizeof(float), vocabulary, stdout);
        }
    };
    const auto step = static_cast<size_t>(std::stoi(options["step"]));
    const auto decode_steps = [&](size_t from, size_t to, int32_t moved) {
        for (size_t next = 0; from < to; from = next) {
            next = step == 0 ? to : std::min(to, from + step);
            decode(from, next, moved);
        }
    };
    decode_steps(0, before_shift, 0);
    if (shift > 0) {
        llama_memory_t memory = llama_get_memory(context);
        if (!llama_memory_can_shift(memory)) fail("this cache cannot shift");
        for (int32_t sequence = 0; sequence < sequences; ++sequence) {
            llama_memory_seq_rm(memory, sequence, 0, shift);
            llama_memory_seq_add(memory, sequence, shift, -1, -shift);
        }
        decode_steps(before_shift, tokens.size(), shift);
    }
    llama_batch_free(batch);
    llama_free(context);
    llama_model_free(model);
    return 0;
}

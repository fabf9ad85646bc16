// eliza-quality MODEL CHUNKS_FILE key=value... K/V[@BATCH]...: what a KV cache of these types costs the model.
//
// CHUNKS_FILE holds a text a line, as decimal token ids. Of each line all tokens but the last are decoded, once with
// the reference cache and once with each cache asked for, and positions from `start` on are scored: the KL divergence
// of the whole distribution from the reference's, whether the likeliest token is the same, and the probability of the
// token that follows. @BATCH decodes the scored positions BATCH tokens at a time (1 is how a reply is generated);
// otherwise, and before `start`, `ubatch` at a time.
// +NAME, a name that begins with map, stores through the learned map of the key NAME, a solved one's file. ~W,S keeps
// the latest W tokens and the first S as f16 beside the coded ones. In this order: K/V~W,S@BATCH+NAME.
//
// Keys: start, ubatch, threads; gpu, layers on a GPU, cache and maps included (0), which
// cpucache=1 keeps on the processor with attention; shifts, how often everything in the cache moves to later positions, a token being decoded
// after each time, once `start` is reached; scratch, a file for the reference's logits of one chunk (float32, removed at the end);
// reference, a cache as K/V; float32, a file to write the model to with the same weights held in float32, and to read
// it from: products with quantized weights round activations to 8 bits, which turns any difference, however small, into
// one of the size of that rounding.
//
// Output is a JSON object a line: first the model, then each cache's running result after each chunk, with the mean
// divergence of each block of 64 positions, so that two caches can be compared block by block.
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "distribution.h"
#include "ggml.h"
#include "llama-kv-cache-iswa.h"
#include "llama-kv-cache.h"
#include "llama-model.h"
#include "llama.h"
#include "open-model.h"
#ifdef ELIZA_MAPS
#include "runtimes/llama/map/learned-map.h"
#endif

namespace {

using nlohmann::json;

// Neighbouring positions are alike, so the interval is taken over means of blocks of this many.
constexpr size_t BLOCK = 64;

// Positions that a shift moves the cache by.
constexpr int32_t SHIFT = 16;

[[noreturn]] void fail(const std::string &message) {
    std::fprintf(stderr, "eliza-quality: %s\n", message.c_str());
    std::exit(1);
}

struct Cache {
    std::string name; // as it was asked for
    std::string k, v;
    int32_t batch = 0; // 0: ubatch
    std::string map;   // key of its learned map, empty for none
    uint32_t exact_tokens = 0, exact_sinks = 0;
};

Cache parse_cache(const std::string &asked) {
    const size_t plus = std::min(asked.find('+'), asked.size());
    Cache cache{asked, {}, {}, 0, asked.substr(std::min(plus + 1, asked.size()))};
    const std::string name = asked.substr(0, plus);
    const size_t slash = name.find('/');
    const size_t at = name.find('@');
    if (slash == std::string::npos) fail("not K/V: " + name);
    cache.k = name.substr(0, slash);
    const size_t tilde = std::min(name.find('~'), name.size());
    cache.v = name.substr(slash + 1, std::min(at, tilde) - slash - 1);
    if (tilde < name.size()) {
        std::istringstream window(name.substr(tilde + 1));
        char comma = 0;
        if (!(window >> cache.exact_tokens >> comma >> cache.exact_sinks) || comma != ',') fail("not ~W,S: " + name);
    }
    if (at != std::string::npos) cache.batch = std::stoi(name.substr(at + 1));
    return cache;
}

bool is_tile_of(const std::string &type, const std::string &name) {
    if (type == name) return true;
    if (type.rfind(name + "_", 0) != 0) return false;
    return type.find_first_not_of("0123456789", name.size() + 1) == std::string::npos;
}

// The type of that name; of several, which differ by the tile behind the name, the widest that divides the heads.
// GGML_TYPE_COUNT if none does.
ggml_type find_type(const std::string &name, uint32_t head_dim) {
    int found = GGML_TYPE_COUNT;
    for (int type = 0; type < GGML_TYPE_COUNT; ++type) {
        const int64_t tile = ggml_blck_size(static_cast<ggml_type>(type));
        if (tile <= 0 || head_dim % tile != 0 || !is_tile_of(ggml_type_name(static_cast<ggml_type>(type)), name))
            continue;
        if (found == GGML_TYPE_COUNT || tile > ggml_blck_size(static_cast<ggml_type>(found))) found = type;
    }
    return static_cast<ggml_type>(found);
}

// Bytes in memory for each token that a layer holds, summed over layers.
double measured_bytes_per_token(llama_context *context) {
    const auto of = [](const llama_kv_cache *cache) {
        uint64_t bytes = 0;
        for (const auto &[type, size] : cache->memory_breakdown()) bytes += size;
        return static_cast<double>(bytes) / cache->get_size();
    };
    const llama_memory_t memory = llama_get_memory(context);
    if (const auto *split = dynamic_cast<const llama_kv_cache_iswa *>(memory)) {
        return of(split->get_base()) + of(split->get_swa());
    }
    const auto *plain = dynamic_cast<const llama_kv_cache *>(memory);
    if (plain == nullptr) fail("this model keeps more than keys and values");
    return of(plain);
}

struct Scores {
    std::vector<double> kl; // a position
    double agreeing = 0;    // positions whose likeliest token is the reference's
    double nll_excess = 0;  // sum of log p_reference(next) - log p(next)
    double bytes = 0;       // a token
    double seconds = 0;     // of decoding, all threads' processor time
    double wall = 0;        // of decoding, as a clock has it
    std::string type_k, type_v;

    std::vector<double> block_means() const {
        std::vector<double> blocks;
        for (size_t i = 0; i + BLOCK <= kl.size(); i += BLOCK) {
            double sum = 0;
            for (size_t j = i; j < i + BLOCK; ++j) sum += kl[j];
            blocks.push_back(sum / BLOCK);
        }
        return blocks;
    }

    json summary(const Cache &cache, size_t chunks) const {
        double mean = 0;
        for (const double value : kl) mean += value / static_cast<double>(kl.size());
        const std::vector<double> blocks = block_means();
        double variance = 0;
        for (const double block : blocks) variance += (block - mean) * (block - mean);
        const auto n = static_cast<double>(blocks.size());
        const double half_width = n > 1 ? 1.96 * std::sqrt(variance / (n - 1) / n) : 0;
        const auto positions = static_cast<double>(kl.size());
        return {{"cache", cache.name},
                {"k", cache.k},
                {"v", cache.v},
                {"batch", cache.batch},
                {"exactTokens", cache.exact_tokens},
                {"exactSinks", cache.exact_sinks},
                {"typeK", type_k},
                {"typeV", type_v},
                {"chunks", chunks},
                {"positions", kl.size()},
                {"kl", mean},
                {"klHalfWidth", half_width},
                {"klBlocks", blocks},
                {"top1", agreeing / positions},
                {"perplexityRatio", std::exp(nll_excess / positions)},
                {"bytesPerToken", bytes},
                {"cpuSeconds", seconds},
                {"wallSeconds", wall}};
    }
};

struct Options {
    int32_t start, ubatch, threads, shifts, gpu;
    bool cache_on_gpu;
    std::map<std::string, std::string> maps; // files, by key
};

struct ContextDeleter {
    void operator()(llama_context *context) const { llama_free(context); }
};
using ContextPtr = std::unique_ptr<llama_context, ContextDeleter>;

#ifdef ELIZA_MAPS
using MapPtr = std::unique_ptr<eliza::LearnedMap>;

MapPtr load_map(llama_model *model, const Cache &cache, llama_context_params &params, const Options &options) {
    if (cache.map.empty()) return nullptr;
    const auto file = options.maps.find(cache.map);
    if (file == options.maps.end()) fail("no file was given for the map of " + cache.name);
    try {
        auto map = std::make_unique<eliza::LearnedMap>(file->second, model, params.type_k, params.type_v,
                                                       options.cache_on_gpu);
        params.kv_map = map->graph();
        return map;
    } catch (const std::exception &error) {
        fail(error.what());
    }
}
#else
using MapPtr = std::unique_ptr<int>;

MapPtr load_map(llama_model *, const Cache &cache, llama_context_params &, const Options &) {
    if (!cache.map.empty()) fail("llama.cpp without edits takes no map: " + cache.name);
    return nullptr;
}
#endif

// The map outlives the context that computes with it.
struct MappedContext {
    MapPtr map;
    ContextPtr context;

    llama_context *get() const { return context.get(); }
    explicit operator bool() const { return context != nullptr; }
};

MappedContext make_context(llama_model *model, const Cache &cache, size_t tokens, const Options &options) {
    llama_context_params params = llama_context_default_params();
    params.n_ctx = (static_cast<uint32_t>(tokens) + 255) / 256 * 256;
    params.n_batch = params.n_ubatch = static_cast<uint32_t>(options.ubatch);
    params.n_outputs_max = params.n_outputs_max_per_seq = params.n_batch;
    params.n_threads = params.n_threads_batch = options.threads;
    params.type_k = find_type(cache.k, model->hparams.n_embd_head_k());
    params.type_v = find_type(cache.v, model->hparams.n_embd_head_v());
    if (params.type_k == GGML_TYPE_COUNT || params.type_v == GGML_TYPE_COUNT) return {};
    params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_ENABLED;
    params.swa_full = false;
    params.offload_kqv = options.cache_on_gpu;
#ifdef ELIZA_MAPS
    params.exact_recent = cache.exact_tokens;
    params.exact_sinks = cache.exact_sinks;
#else
    if (cache.exact_tokens > 0 || cache.exact_sinks > 0) fail("llama.cpp without edits keeps nothing exact");
#endif
    MapPtr map = load_map(model, cache, params, options);
    ContextPtr context(llama_init_from_model(model, params));
    return {std::move(map), std::move(context)};
}

// What decoding took.
struct Spent {
    double cpu = 0, wall = 0; // seconds
};

// Decodes all tokens but the last and calls `each(position, logits)` from `start` on.
template <typename Each>
Spent decode(llama_context *context, const std::vector<llama_token> &tokens, int32_t scored_batch, int32_t shifts,
             const Options &options, Each each) {
    llama_batch batch = llama_batch_init(options.ubatch, 0, 1);
    Spent spent;
    int32_t shifted = 0;
    const auto count = static_cast<int32_t>(tokens.size()) - 1;
    for (int32_t position = 0; position < count;) {
        const bool scored = position >= options.start;
        batch.n_tokens = std::min(scored && scored_batch > 0 ? scored_batch : options.ubatch,
                                  (scored ? count : std::min(count, options.start)) - position);
        if (scored && shifted < shifts * SHIFT) {
            llama_memory_seq_add(llama_get_memory(context), 0, 0, -1, SHIFT);
            shifted += SHIFT;
            batch.n_tokens = 1;
        }
        for (int32_t i = 0; i < batch.n_tokens; ++i) {
            batch.token[i] = tokens[static_cast<size_t>(position + i)];
            batch.pos[i] = position + i + shifted;
            batch.n_seq_id[i] = 1;
            batch.seq_id[i][0] = 0;
            batch.logits[i] = scored;
        }
        const std::clock_t from = std::clock();
        const int64_t from_us = ggml_time_us();
        if (llama_decode(context, batch) != 0) fail("decode failed");
        llama_synchronize(context);
        spent.cpu += static_cast<double>(std::clock() - from) / CLOCKS_PER_SEC;
        spent.wall += static_cast<double>(ggml_time_us() - from_us) / 1e6;
        for (int32_t i = 0; scored && i < batch.n_tokens; ++i) each(position + i, llama_get_logits_ith(context, i));
        position += batch.n_tokens;
    }
    llama_batch_free(batch);
    return spent;
}

std::vector<std::vector<llama_token>> read_chunks(const char *path, int32_t start) {
    std::vector<std::vector<llama_token>> chunks;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::vector<llama_token> tokens;
        for (llama_token token; words >> token;) tokens.push_back(token);
        if (tokens.empty()) continue;
        if (static_cast<int32_t>(tokens.size()) < start + 2) fail("a chunk has no position to score");
        chunks.push_back(std::move(tokens));
    }
    if (chunks.empty()) fail("no tokens");
    return chunks;
}

void write_float32(const char *from, const std::string &to) {
    llama_model_quantize_params params = llama_model_quantize_default_params();
    params.ftype = LLAMA_FTYPE_ALL_F32;
    params.allow_requantize = true;
    if (llama_model_quantize(from, to.c_str(), &params) != 0) fail("cannot write " + to);
}

void print(const json &object) {
    std::printf("%s\n", object.dump().c_str());
    std::fflush(stdout);
}

json describe(const llama_model *model) {
    const llama_hparams &hparams = model->hparams;
    json layers = json::array();
    for (uint32_t layer = 0; layer < hparams.n_layer(); ++layer) {
        if (!hparams.has_kv(layer)) continue;
        layers.push_back({{"headDimK", hparams.n_embd_head_k(layer)},
                          {"headDimV", hparams.n_embd_head_v(layer)},
                          {"kvHeads", hparams.n_head_kv(layer)},
                          {"slidingWindow", hparams.is_swa(layer) ? hparams.n_swa : 0}});
    }
    return {{"layers", layers}, {"vocabulary", llama_vocab_n_tokens(llama_model_get_vocab(model))}};
}

} // namespace

int main(int argc, char **argv) {
    if (argc < 4) fail("usage: eliza-quality MODEL CHUNKS_FILE [key=value...] K/V[@BATCH]...");
    std::map<std::string, std::string> values{
        {"start", "1024"},        {"ubatch", "512"}, {"threads", "2"}, {"scratch", "eliza-quality.tmp"},
        {"reference", "f16/f16"}, {"float32", ""},   {"shifts", "0"},  {"gpu", "0"},
        {"cpucache", "0"}};
    std::map<std::string, std::string> maps;
    std::vector<Cache> caches;
    for (int i = 3; i < argc; ++i) {
        const std::string argument = argv[i];
        const size_t equals = argument.find('=');
        if (equals == std::string::npos) {
            caches.push_back(parse_cache(argument));
        } else if (argument.rfind("map", 0) == 0) {
            maps[argument.substr(0, equals)] = argument.substr(equals + 1);
        } else if (values.count(argument.substr(0, equals)) != 0) {
            values[argument.substr(0, equals)] = argument.substr(equals + 1);
        } else {
            fail("unknown key in " + argument);
        }
    }
    const Options options{std::stoi(values["start"]),
                          std::stoi(values["ubatch"]),
                          std::stoi(values["threads"]),
                          std::stoi(values["shifts"]),
                          std::stoi(values["gpu"]),
                          values["gpu"] != "0" && values["cpucache"] == "0",
                          maps};
    const Cache reference = parse_cache(values["reference"]);
    const auto chunks = read_chunks(argv[2], options.start);

    start_llama();
    const std::string &float32 = values["float32"];
    if (!float32.empty()) write_float32(argv[1], float32);
    llama_model *model = open_model(float32.empty() ? argv[1] : float32.c_str(), options.gpu);
    if (model == nullptr) fail("cannot load the model");
    print({{"model", describe(model)}});

    const auto vocabulary = static_cast<size_t>(llama_vocab_n_tokens(llama_model_get_vocab(model)));
    std::vector<Scores> scores(caches.size());
    Scores reference_scores;
    for (size_t chunk = 0; chunk < chunks.size(); ++chunk) {
        const std::vector<llama_token> &tokens = chunks[chunk];
        const auto next_of = [&](int32_t position) {
            return static_cast<size_t>(tokens[static_cast<size_t>(position) + 1]);
        };
        const LogitsFile truth(values["scratch"], vocabulary, tokens.size() - 1 - static_cast<size_t>(options.start));
        {
            const MappedContext context = make_context(model, reference, tokens.size(), options);
            if (!context) fail("no reference cache " + reference.name);
            reference_scores.bytes = measured_bytes_per_token(context.get());
            const Spent spent =
                decode(context.get(), tokens, reference.batch, 0, options, [&](int32_t position, const float *logits) {
                    std::memcpy(truth.row(static_cast<size_t>(position - options.start)), logits,
                                vocabulary * sizeof(float));
                    reference_scores.nll_excess += negative_log_probability(logits, vocabulary, next_of(position));
                    reference_scores.kl.push_back(0);
                });
            reference_scores.seconds += spent.cpu;
            reference_scores.wall += spent.wall;
            print({{"reference", reference.name},
                   {"chunks", chunk + 1},
                   {"positions", reference_scores.kl.size()},
                   {"perplexity",
                    std::exp(reference_scores.nll_excess / static_cast<double>(reference_scores.kl.size()))},
                   {"bytesPerToken", reference_scores.bytes},
                   {"cpuSeconds", reference_scores.seconds},
                   {"wallSeconds", reference_scores.wall}});
        }
        for (size_t i = 0; i < caches.size(); ++i) {
            const MappedContext context = make_context(model, caches[i], tokens.size(), options);
            if (!context || (options.shifts > 0 && !llama_memory_can_shift(llama_get_memory(context.get())))) {
                print({{"refused", caches[i].name},
                       {"reason", context ? "its keys cannot be shifted" : "no such type for these heads"}});
                continue;
            }
            Scores &score = scores[i];
            score.bytes = measured_bytes_per_token(context.get());
            score.type_k = ggml_type_name(find_type(caches[i].k, model->hparams.n_embd_head_k()));
            score.type_v = ggml_type_name(find_type(caches[i].v, model->hparams.n_embd_head_v()));
            const Spent spent = decode(context.get(), tokens, caches[i].batch, options.shifts, options,
                                       [&](int32_t position, const float *logits) {
                                           const Comparison comparison = compare_distributions(
                                               truth.row(static_cast<size_t>(position - options.start)), logits,
                                               vocabulary, next_of(position));
                                           score.kl.push_back(comparison.kl);
                                           score.agreeing += comparison.same_top ? 1 : 0;
                                           score.nll_excess += comparison.nll_excess;
                                       });
            score.seconds += spent.cpu;
            score.wall += spent.wall;
            print(score.summary(caches[i], chunk + 1));
        }
    }
    llama_model_free(model);
    return 0;
}

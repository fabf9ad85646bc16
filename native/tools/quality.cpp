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
// Keys: start, ubatch, threads; streams, how many pieces are decoded side by side, each a sequence of its own (1), which
// then are of one length; gpu, layers on a GPU, cache and maps included (0), which
// cpucache=1 keeps on the processor with attention; shifts, how often everything in the cache moves to later positions, a token being decoded
// after each time, once `start` is reached; scratch, a file for the reference's logits of one chunk (float32, removed at the end);
// reference, a cache as K/V; float32, a file to write the model to with the same weights held in float32, and to read
// it from: products with quantized weights round activations to 8 bits, which turns any difference, however small, into
// one of the size of that rounding.
//
// Output is a JSON object a line: first the model, then each cache's running result after each chunk, with the mean
// divergence and the mean loss of log p(next) of each block of 64 positions, so that two caches can be compared block
// by block. bytes is the memory of a sequence's whole cache, sliding windows, exact rows and cells without a token included.
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

#include "cache-context.h"
#include "distribution.h"
#include "ggml.h"
#include "llama-kv-cache-iswa.h"
#include "llama-kv-cache.h"
#include "llama-model.h"
#include "llama.h"
#include "open-model.h"
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

// What decoding took.
struct Spent {
    double cpu = 0, wall = 0; // seconds: of all threads, and by the clock

    void operator+=(const Spent &more) {
        cpu += more.cpu;
        wall += more.wall;
    }
};

// Of one sequence.
struct Bytes {
    double per_token = 0; // in memory for each token that a layer holds, summed over layers
    double all = 0;
};

Bytes measure_bytes(llama_context *context) {
    Bytes bytes;
    const auto add = [&](const llama_kv_cache *cache) {
        uint64_t all = 0;
        for (const auto &[type, size] : cache->memory_breakdown()) all += size;
        const double own = static_cast<double>(all) / llama_n_seq_max(context);
        bytes.all += own;
        bytes.per_token += own / cache->get_size();
    };
    const llama_memory_t memory = llama_get_memory(context);
    if (const auto *split = dynamic_cast<const llama_kv_cache_iswa *>(memory)) {
        add(split->get_base());
        add(split->get_swa());
    } else if (const auto *plain = dynamic_cast<const llama_kv_cache *>(memory)) {
        add(plain);
    } else {
        fail("this model keeps more than keys and values");
    }
    return bytes;
}

// The mean of each BLOCK values, in order.
std::vector<double> block_means(const std::vector<double> &values) {
    std::vector<double> blocks;
    for (size_t i = 0; i + BLOCK <= values.size(); i += BLOCK) {
        double sum = 0;
        for (size_t j = i; j < i + BLOCK; ++j) sum += values[j];
        blocks.push_back(sum / BLOCK);
    }
    return blocks;
}

struct Scores {
    std::vector<double> kl;         // a position
    std::vector<double> nll_excess; // log p_reference(next) - log p(next), a position
    double agreeing = 0;            // positions whose likeliest token is the reference's
    Bytes bytes;
    Spent spent;
    std::string type_k, type_v;

    json summary(const Cache &cache, size_t chunks) const {
        double mean = 0, excess = 0;
        const auto positions = static_cast<double>(kl.size());
        for (const double value : kl) mean += value / positions;
        for (const double value : nll_excess) excess += value / positions;
        const std::vector<double> blocks = block_means(kl);
        double variance = 0;
        for (const double block : blocks) variance += (block - mean) * (block - mean);
        const auto n = static_cast<double>(blocks.size());
        const double half_width = n > 1 ? 1.96 * std::sqrt(variance / (n - 1) / n) : 0;
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
                {"perplexityRatio", std::exp(excess)},
                {"lossBlocks", block_means(nll_excess)},
                {"bytesPerToken", bytes.per_token},
                {"bytes", bytes.all},
                {"cpuSeconds", spent.cpu},
                {"wallSeconds", spent.wall}};
    }
};

struct Options {
    int32_t start, ubatch, threads, streams, shifts, gpu;
    bool cache_on_gpu;
    std::map<std::string, std::string> maps; // files, by key
};

// For pieces of so many tokens, side by side.
MappedContext open_context(llama_model *model, const Cache &cache, size_t tokens, size_t pieces,
                           const Options &options) {
    llama_context_params params = llama_context_default_params();
    params.n_seq_max = static_cast<uint32_t>(pieces);
    params.n_ctx = (static_cast<uint32_t>(tokens) + 255) / 256 * 256 * params.n_seq_max;
    params.n_batch = params.n_ubatch = static_cast<uint32_t>(options.ubatch);
    params.n_outputs_max = params.n_outputs_max_per_seq = params.n_batch;
    params.n_threads = params.n_threads_batch = options.threads;
    params.offload_kqv = options.cache_on_gpu;
    return make_context(model, cache, params, options.maps);
}

using Piece = std::vector<llama_token>;

// Decodes all tokens but the last of pieces of one length, each a sequence, and calls `each(piece, position, logits)`
// from `start` on. Up to `start` a piece is read after the other; then as many side by side as a batch has room for.
template <typename Each>
Spent decode(llama_context *context, const std::vector<Piece> &pieces, int32_t scored_batch, int32_t shifts,
             const Options &options, Each each) {
    llama_batch batch = llama_batch_init(options.ubatch, 0, 1);
    Spent spent;
    int32_t shifted = 0;
    const auto add = [&](size_t piece, int32_t position, bool scored) {
        const int32_t i = batch.n_tokens++;
        batch.token[i] = pieces[piece][static_cast<size_t>(position)];
        batch.pos[i] = position + shifted;
        batch.n_seq_id[i] = 1;
        batch.seq_id[i][0] = static_cast<llama_seq_id>(piece);
        batch.logits[i] = scored;
    };
    const auto run = [&] {
        const std::clock_t from = std::clock();
        const int64_t from_us = ggml_time_us();
        if (llama_decode(context, batch) != 0) fail("decode failed");
        llama_synchronize(context);
        spent.cpu += static_cast<double>(std::clock() - from) / CLOCKS_PER_SEC;
        spent.wall += static_cast<double>(ggml_time_us() - from_us) / 1e6;
    };
    const auto count = static_cast<int32_t>(pieces[0].size()) - 1;
    for (size_t piece = 0; piece < pieces.size(); ++piece) {
        for (int32_t position = 0; position < options.start;) {
            const int32_t end = std::min(options.start, position + options.ubatch);
            for (batch.n_tokens = 0; position < end; ++position) add(piece, position, false);
            run();
        }
    }
    int32_t width = 0;
    for (int32_t position = options.start; position < count; position += width) {
        width = scored_batch > 0 ? scored_batch : options.ubatch;
        if (shifted < shifts * SHIFT) {
            for (size_t piece = 0; piece < pieces.size(); ++piece) {
                llama_memory_seq_add(llama_get_memory(context), static_cast<llama_seq_id>(piece), 0, -1, SHIFT);
            }
            shifted += SHIFT;
            width = 1;
        }
        width = std::min(width, count - position);
        const size_t abreast = static_cast<size_t>(options.ubatch / width);
        for (size_t first = 0; first < pieces.size(); first += abreast) {
            const size_t behind = std::min(pieces.size(), first + abreast);
            batch.n_tokens = 0;
            for (size_t piece = first; piece < behind; ++piece) {
                for (int32_t i = 0; i < width; ++i) add(piece, position + i, true);
            }
            run();
            for (int32_t i = 0; i < batch.n_tokens; ++i) {
                each(first + static_cast<size_t>(i / width), position + i % width, llama_get_logits_ith(context, i));
            }
        }
    }
    llama_batch_free(batch);
    return spent;
}

std::vector<Piece> read_chunks(const char *path, int32_t start) {
    std::vector<Piece> chunks;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        Piece tokens;
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

int main(int argc, char **argv) try {
    if (argc < 4) fail("usage: eliza-quality MODEL CHUNKS_FILE [key=value...] K/V[@BATCH]...");
    std::map<std::string, std::string> values{{"start", "1024"},
                                              {"ubatch", "512"},
                                              {"threads", "2"},
                                              {"streams", "1"},
                                              {"scratch", "eliza-quality.tmp"},
                                              {"reference", "f16/f16"},
                                              {"float32", ""},
                                              {"shifts", "0"},
                                              {"gpu", "0"},
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
                          std::stoi(values["streams"]),
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
    for (size_t done = 0; done < chunks.size();) {
        const size_t behind = std::min(chunks.size(), done + static_cast<size_t>(options.streams));
        const std::vector<Piece> pieces(chunks.begin() + static_cast<ptrdiff_t>(done),
                                        chunks.begin() + static_cast<ptrdiff_t>(behind));
        done = behind;
        const size_t tokens = pieces[0].size() - 1; // the last is only predicted
        for (const Piece &piece : pieces) {
            if (piece.size() != tokens + 1) fail("pieces side by side are of one length");
        }
        const size_t scored = tokens - static_cast<size_t>(options.start);
        const auto row_of = [&](size_t piece, int32_t position) {
            return piece * scored + static_cast<size_t>(position - options.start);
        };
        const auto next_of = [&](size_t piece, int32_t position) {
            return static_cast<size_t>(pieces[piece][static_cast<size_t>(position) + 1]);
        };
        const LogitsFile truth(values["scratch"], vocabulary, pieces.size() * scored);
        {
            const MappedContext context = open_context(model, reference, tokens, pieces.size(), options);
            if (!context) fail("no reference cache " + reference.name);
            reference_scores.bytes = measure_bytes(context.get());
            double nll = 0;
            for (const double value : reference_scores.nll_excess) nll += value;
            reference_scores.spent +=
                decode(context.get(), pieces, reference.batch, 0, options,
                       [&](size_t piece, int32_t position, const float *logits) {
                           std::memcpy(truth.row(row_of(piece, position)), logits, vocabulary * sizeof(float));
                           reference_scores.nll_excess.push_back(
                               negative_log_probability(logits, vocabulary, next_of(piece, position)));
                           nll += reference_scores.nll_excess.back();
                       });
            const size_t positions = reference_scores.nll_excess.size();
            print({{"reference", reference.name},
                   {"chunks", done},
                   {"streams", options.streams},
                   {"positions", positions},
                   {"perplexity", std::exp(nll / static_cast<double>(positions))},
                   {"bytesPerToken", reference_scores.bytes.per_token},
                   {"bytes", reference_scores.bytes.all},
                   {"cpuSeconds", reference_scores.spent.cpu},
                   {"wallSeconds", reference_scores.spent.wall}});
        }
        for (size_t i = 0; i < caches.size(); ++i) {
            const MappedContext context = open_context(model, caches[i], tokens, pieces.size(), options);
            if (!context || (options.shifts > 0 && !llama_memory_can_shift(llama_get_memory(context.get())))) {
                print({{"refused", caches[i].name},
                       {"reason", context ? "its keys cannot be shifted" : "no such type for these heads"}});
                continue;
            }
            Scores &score = scores[i];
            score.bytes = measure_bytes(context.get());
            score.type_k = ggml_type_name(find_type(caches[i].k, model->hparams.n_embd_head_k()));
            score.type_v = ggml_type_name(find_type(caches[i].v, model->hparams.n_embd_head_v()));
            const size_t before = score.kl.size();
            score.kl.resize(before + pieces.size() * scored);
            score.nll_excess.resize(score.kl.size());
            score.spent += decode(context.get(), pieces, caches[i].batch, options.shifts, options,
                                  [&](size_t piece, int32_t position, const float *logits) {
                                      const size_t row = row_of(piece, position);
                                      const Comparison comparison = compare_distributions(
                                          truth.row(row), logits, vocabulary, next_of(piece, position));
                                      score.kl[before + row] = comparison.kl;
                                      score.nll_excess[before + row] = comparison.nll_excess;
                                      score.agreeing += comparison.same_top ? 1 : 0;
                                  });
            print(score.summary(caches[i], done));
        }
    }
    llama_model_free(model);
    return 0;
} catch (const std::exception &error) {
    fail(error.what());
}

// Holds a GGUF file of the model against what is known about it, with llama.cpp alone:
//
//   pico-check tokens MODEL                      text on standard input -> ids, one a line
//   pico-check logits MODEL IDS OUT              ids from a text file -> f32 logits of every position, f32
//   cache pico-check sample MODEL SEED TEMPERATURE N   prompt on standard input -> text; temperature 0 is
//   greedy
//                                              and prints on standard error how far the closest second choice
//                                              was
//   pico-check score MODEL SET K V [LENGTH]      recall and perplexity with cache types K and V
//
// SET is a text file of write-evaluation: lines of a letter and integers.
//   W length ids...              a window to take the perplexity of; span kind in the bits from 12 up
//   C length kind ids...         a context for the questions after it; kinds as in kind_names; length 1 for
//   skills Q prompt-count ids...        a question and its reply; the reply begins after prompt-count ids

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "llama.h"

namespace {

using Ids = std::vector<llama_token>;

[[noreturn]] void fail(const std::string &what) {
    std::fprintf(stderr, "pico-check: %s\n", what.c_str());
    std::exit(1);
}

struct Session {
    llama_model *model = nullptr;
    llama_context *context = nullptr;
    const llama_vocab *vocab = nullptr;
    int n_vocab = 0;

    Session(const char *path, ggml_type k, ggml_type v, bool flash) {
        llama_model_params mp = llama_model_default_params();
        model = llama_model_load_from_file(path, mp);
        if (!model) fail(std::string("cannot load ") + path);
        vocab = llama_model_get_vocab(model);
        n_vocab = llama_vocab_n_tokens(vocab);
        llama_context_params cp = llama_context_default_params();
        cp.n_ctx = 4096;
        cp.n_batch = 4096;
        cp.n_ubatch = 512;
        const char *threads = std::getenv("THREADS");
        cp.n_threads = cp.n_threads_batch = threads ? std::atoi(threads) : 2;
        cp.type_k = k;
        cp.type_v = v;
        cp.flash_attn_type = flash ? LLAMA_FLASH_ATTN_TYPE_ENABLED : LLAMA_FLASH_ATTN_TYPE_DISABLED;
        context = llama_init_from_model(model, cp);
        if (!context) fail("cannot make a context with these cache types");
    }
    ~Session() {
        llama_free(context);
        llama_model_free(model);
    }

    // Decodes ids from position `first` on; logits for those from index `from` on.
    void decode(const Ids &ids, int first, int from) {
        llama_batch batch = llama_batch_init(int(ids.size()), 0, 1);
        batch.n_tokens = int(ids.size());
        for (int i = 0; i < batch.n_tokens; i++) {
            batch.token[i] = ids[i];
            batch.pos[i] = first + i;
            batch.n_seq_id[i] = 1;
            batch.seq_id[i][0] = 0;
            batch.logits[i] = i >= from;
        }
        if (llama_decode(context, batch) != 0) fail("llama_decode refused a batch");
        llama_batch_free(batch);
    }
    void forget(int from) { llama_memory_seq_rm(llama_get_memory(context), 0, from, -1); }
    llama_token best(int index) {
        const float *logits = llama_get_logits_ith(context, index);
        int best = 0;
        for (int i = 1; i < n_vocab; i++) {
            if (logits[i] > logits[best]) best = i;
        }
        return best;
    }
    // How far the best logit is above the next one.
    float margin(int index) {
        const float *logits = llama_get_logits_ith(context, index);
        const int top = best(index);
        float gap = INFINITY;
        for (int i = 0; i < n_vocab; i++) {
            if (i != top) gap = std::min(gap, logits[top] - logits[i]);
        }
        return gap;
    }
    double entropy(int index, llama_token target) {
        const float *logits = llama_get_logits_ith(context, index);
        double top = logits[0], sum = 0;
        for (int i = 1; i < n_vocab; i++)
            top = std::max(top, double(logits[i]));
        for (int i = 0; i < n_vocab; i++)
            sum += std::exp(logits[i] - top);
        return top + std::log(sum) - logits[target];
    }
};

Ids tokenize(const Session &s, const std::string &text) {
    Ids ids(text.size() + 8);
    const int n =
        llama_tokenize(s.vocab, text.data(), int(text.size()), ids.data(), int(ids.size()), true, true);
    if (n < 0) fail("llama_tokenize needs more room than the text has bytes");
    ids.resize(n);
    return ids;
}

std::string input() {
    return {std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
}

ggml_type type_named(const std::string &name) {
    for (int i = 0; i < GGML_TYPE_COUNT; i++) {
        const char *known = ggml_type_name(ggml_type(i));
        if (known && name == known) return ggml_type(i);
    }
    fail("no type is called " + name);
}

void logits(Session &s, const char *ids_path, const char *out_path) {
    std::ifstream in(ids_path);
    const Ids ids{std::istream_iterator<llama_token>(in), std::istream_iterator<llama_token>()};
    s.decode(ids, 0, 0);
    std::ofstream out(out_path, std::ios::binary);
    for (size_t i = 0; i < ids.size(); i++) {
        const auto *row = reinterpret_cast<const char *>(llama_get_logits_ith(s.context, int(i)));
        out.write(row, std::streamsize(sizeof(float)) * s.n_vocab);
    }
}

void sample(Session &s, uint32_t seed, float temperature, int count) {
    llama_sampler *chain = llama_sampler_chain_init(llama_sampler_chain_default_params());
    if (temperature > 0) {
        llama_sampler_chain_add(chain, llama_sampler_init_temp(temperature));
        llama_sampler_chain_add(chain, llama_sampler_init_dist(seed));
    } else {
        llama_sampler_chain_add(chain, llama_sampler_init_greedy());
    }
    Ids ids = tokenize(s, input());
    int at = 0;
    float margin = INFINITY;
    for (int i = 0; i < count; i++) {
        s.decode(ids, at, int(ids.size()) - 1);
        margin = std::min(margin, s.margin(-1));
        at += int(ids.size());
        const llama_token next = llama_sampler_sample(chain, s.context, -1);
        if (llama_vocab_is_eog(s.vocab, next)) break;
        char piece[64];
        const int n = llama_token_to_piece(s.vocab, next, piece, sizeof piece, 0, true);
        std::fwrite(piece, 1, size_t(std::max(n, 0)), stdout);
        ids = {next};
    }
    if (temperature <= 0) std::fprintf(stderr, "margin %.4f\n", margin);
    llama_sampler_free(chain);
}

const char *const kind_names[] = {"recall of planted facts",
                                  "recall of a key-value list",
                                  "sums",
                                  "word problems",
                                  "JSON writing",
                                  "JSON look-up",
                                  "small world questions"};

struct Tally {
    int asked = 0, exact = 0;
    double entropy = 0, prose = 0;
    long tokens = 0, prose_tokens = 0;
};

void score(Session &s, const char *set_path, int only) {
    std::map<std::pair<int, int>, Tally> recall; // by length and kind
    std::map<int, Tally> windows;
    std::ifstream in(set_path);
    std::string line;
    Tally *tally = nullptr;
    int n_context = 0;
    while (std::getline(in, line)) {
        std::istringstream fields(line);
        std::string letter;
        int number = 0;
        fields >> letter >> number;
        if (letter == "Q") {
            if (!tally) continue;
            const Ids ids{std::istream_iterator<llama_token>(fields), std::istream_iterator<llama_token>()};
            s.forget(n_context);
            s.decode(ids, n_context, number - 1);
            bool exact = true;
            for (int i = number; i < int(ids.size()); i++)
                exact = exact && s.best(i - 1) == ids[i];
            tally->asked++;
            tally->exact += exact;
            continue;
        }
        tally = nullptr;
        if (only && number != only) continue;
        int kind = 0;
        if (letter == "C") fields >> kind;
        Ids ids{std::istream_iterator<llama_token>(fields), std::istream_iterator<llama_token>()};
        llama_memory_clear(llama_get_memory(s.context), true);
        n_context = int(ids.size());
        if (letter == "C") {
            s.decode(ids, 0, n_context);
            tally = &recall[{number, kind}];
            continue;
        }
        std::vector<int> kinds;
        for (auto &id : ids) {
            kinds.push_back(id >> 12);
            id &= 4095;
        }
        s.decode(ids, 0, 0);
        Tally &window = windows[number];
        for (int i = 0; i + 1 < n_context; i++) {
            const double entropy = s.entropy(i, ids[i + 1]);
            window.entropy += entropy;
            window.tokens++;
            if (kinds[i + 1] != 2) {
                window.prose += entropy;
                window.prose_tokens++;
            }
        }
    }
    for (const auto &[key, t] : recall) {
        if (size_t(key.second) >= std::size(kind_names)) fail("the set holds a kind without a name");
        std::printf("%s, length %d: %d of %d = %.2f %%\n", kind_names[key.second], key.first, t.exact,
                    t.asked, 100.0 * t.exact / t.asked);
    }
    for (const auto &[length, t] : windows) {
        std::printf("perplexity length %d: %.4f over %ld tokens, %.4f without the random values\n", length,
                    std::exp(t.entropy / t.tokens), t.tokens, std::exp(t.prose / t.prose_tokens));
    }
}

} // namespace

int main(int argc, char **argv) {
    const std::string command = argc > 2 ? argv[1] : "";
    llama_log_set(
        [](ggml_log_level level, const char *text, void *) {
            if (level == GGML_LOG_LEVEL_ERROR) std::fputs(text, stderr);
        },
        nullptr);
    llama_backend_init();
    if (command == "tokens") {
        Session s(argv[2], GGML_TYPE_F16, GGML_TYPE_F16, true);
        for (const llama_token id : tokenize(s, input()))
            std::printf("%d\n", id);
    } else if (command == "logits" && argc == 5) {
        Session s(argv[2], GGML_TYPE_F32, GGML_TYPE_F32, false);
        logits(s, argv[3], argv[4]);
    } else if (command == "sample" && argc == 6) {
        Session s(argv[2], GGML_TYPE_F16, GGML_TYPE_F16, true);
        sample(s, uint32_t(std::atol(argv[3])), float(std::atof(argv[4])), std::atoi(argv[5]));
    } else if (command == "score" && argc >= 6) {
        Session s(argv[2], type_named(argv[4]), type_named(argv[5]), true);
        score(s, argv[3], argc > 6 ? std::atoi(argv[6]) : 0);
    } else {
        fail("usage: tokens|logits|sample|score MODEL ...; see the top of pico-check.cpp");
    }
    return 0;
}

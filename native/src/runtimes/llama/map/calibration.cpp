#include "runtimes/llama/map/calibration.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include <nlohmann/json.hpp>

#include "error/failure.h"
#include "llama-kv-cache-iswa.h"
#include "llama-model.h"
#include "runtimes/llama/log-capture.h"
#include "runtimes/llama/map/attention-weights.h"
#include "runtimes/llama/map/layer-layout.h"
#include "runtimes/llama/map/statistics-file.h"
#include "runtimes/llama/map/weighted-moments.h"
#include "runtimes/llama/memory.h"
#include "runtimes/llama/model.h"
#include "runtimes/llama/processors.h"

namespace eliza {

namespace {

constexpr int32_t STEP_TOKENS = 512;

struct ContextDeleter {
    void operator()(llama_context *context) const { llama_free(context); }
};
struct ThreadpoolDeleter {
    void operator()(ggml_threadpool *pool) const { ggml_threadpool_free(pool); }
};

// One kv head of one cache.
struct HeadMoments {
    HeadMoments(size_t dim_k, size_t dim_v) : keys(dim_k), queries(dim_k), values(dim_v) {}
    WeightedMoments keys;
    WeightedMoments queries;
    WeightedMoments values;
};

// Head `head` of a tensor [d, n, heads] of any strides, as contiguous float32 rows.
std::vector<float> rows_of(const ggml_tensor *tensor, int64_t head) {
    const int64_t d = tensor->ne[0];
    const int64_t n = tensor->ne[1];
    std::vector<float> rows(static_cast<size_t>(d * n));
    const ggml_to_float_t to_float = ggml_get_type_traits(tensor->type)->to_float;
    for (int64_t i = 0; i < n; ++i) {
        const char *row = static_cast<const char *>(tensor->data) + i * tensor->nb[1] + head * tensor->nb[2];
        float *out = rows.data() + i * d;
        if (tensor->type == GGML_TYPE_F32) {
            std::copy_n(reinterpret_cast<const float *>(row), d, out);
        } else {
            to_float(row, out, d);
        }
    }
    return rows;
}

// The layer of the cache that a key tensor views: its storage is named cache_k_l<layer>.
int32_t cache_layer(const ggml_tensor *keys) {
    const ggml_tensor *storage = keys;
    while (storage->view_src != nullptr) storage = storage->view_src;
    const std::string name = storage->name;
    const size_t at = name.rfind("k_l");
    if (!name.starts_with("cache_") || at == std::string::npos) return -1;
    return std::atoi(name.c_str() + at + 3);
}

[[noreturn]] void unsupported(const std::string &why) {
    throw Failure(Code::MAP_UNSUPPORTED, "this model can have no learned map: " + why, "use it without one");
}

} // namespace

CalibrationOptions parse_calibration_options(const char *json) {
    CalibrationOptions options;
    if (json == nullptr || json[0] == '\0') return options;
    const auto invalid = [](const std::string &message) {
        throw Failure(
            Code::INVALID_ARGUMENT, message,
            "options are tokens, window and threads, whole numbers of at least 1, exact_tokens and exact_sinks, of at "
            "least 0");
    };
    const auto parsed = nlohmann::json::parse(json, nullptr, false);
    if (!parsed.is_object()) invalid("the options are not a JSON object");
    for (const auto &[key, value] : parsed.items()) {
        int32_t *target = key == "tokens"         ? &options.tokens
                          : key == "window"       ? &options.window
                          : key == "threads"      ? &options.threads
                          : key == "exact_tokens" ? &options.exact_tokens
                          : key == "exact_sinks"  ? &options.exact_sinks
                                                  : nullptr;
        const int64_t least = key.starts_with("exact_") ? 0 : 1;
        if (target == nullptr) invalid("option \"" + key + "\" is not known");
        if (!value.is_number_integer() || value.get<int64_t>() < least || value.get<int64_t>() > (1 << 24)) {
            invalid("option " + key + " is " + value.dump());
        }
        *target = value.get<int32_t>();
    }
    if (options.window < 64) invalid("the window of " + std::to_string(options.window) + " tokens is too short");
    if (options.tokens < options.window) {
        invalid(std::to_string(options.tokens) + " tokens are less than one window of " +
                std::to_string(options.window));
    }
    const bool roomy = options.window >= 4 * (DEFAULT_EXACT_TOKENS + DEFAULT_EXACT_SINKS);
    if (options.exact_tokens < 0) options.exact_tokens = roomy ? DEFAULT_EXACT_TOKENS : 0;
    if (options.exact_sinks < 0) options.exact_sinks = roomy ? DEFAULT_EXACT_SINKS : 0;
    if (int64_t(options.exact_tokens) + options.exact_sinks > options.window / 2) {
        invalid("an exact window of " + std::to_string(options.exact_tokens) + " and " +
                std::to_string(options.exact_sinks) + " tokens leaves too little of the window of " +
                std::to_string(options.window));
    }
    return options;
}

struct Calibration::State {
    std::atomic<bool> stopping{false};
    std::mutex stepping; // held while a step runs
    CalibrationOptions options;
    ModelPtr model;
    std::unique_ptr<ggml_threadpool, ThreadpoolDeleter> threadpool;
    std::unique_ptr<llama_context, ContextDeleter> context;
    std::vector<llama_token> tokens; // of the text, whole windows
    int32_t done = 0;

    std::vector<int32_t> sources;                  // by layer, in the order of the graph
    std::vector<std::vector<HeadMoments>> moments; // by cache layer, then kv head; empty for layers that share
    size_t attention_at = 0;                       // of the running graph
    std::exception_ptr failure;

    void load(const std::string &path, const std::string &text);
    void tokenize(const std::string &text);
    void observe(const ggml_tensor *attention);
    // Pairs of an attention node that a coded cache would not be asked for.
    struct ExactPairs {
        eliza_exact_window window;
        std::vector<llama_pos> queries, keys; // positions; empty without a window
    };
    ExactPairs exact_pairs(int32_t cache_layer, const ggml_tensor *attention) const;
    void observe_head(const ggml_tensor *attention, int64_t kv_head, const ExactPairs &exact,
                      HeadMoments &moments) const;
    StatisticsFile statistics() const;
};

namespace {

// The output projection as a head sees it: Σ over the group's heads of W_o W_oᵀ, [d][d].
void add_output_projection(const llama_model *model, uint32_t layer, std::vector<std::vector<double>> &by_kv_head) {
    const llama_hparams &hparams = model->hparams;
    const ggml_tensor *weights = model->layers[layer].wo;
    const auto d = static_cast<size_t>(hparams.n_embd_head_v(layer));
    const size_t heads = hparams.n_head(layer);
    const size_t group = heads / hparams.n_head_kv(layer);
    if (weights == nullptr || static_cast<size_t>(weights->ne[0]) != d * heads) {
        unsupported("layer " + std::to_string(layer) + " has no output projection of its heads");
    }
    std::vector<uint8_t> bytes(ggml_nbytes(weights));
    ggml_backend_tensor_get(weights, bytes.data(), 0, bytes.size());
    const ggml_to_float_t to_float = ggml_get_type_traits(weights->type)->to_float;
    const auto outputs = static_cast<size_t>(weights->ne[1]);
    std::vector<float> slice(outputs * d);
    std::vector<float> row(d * heads);
    const std::vector<double> ones(outputs, 1.0);
    for (size_t head = 0; head < heads; ++head) {
        for (size_t i = 0; i < outputs; ++i) {
            const uint8_t *source = bytes.data() + i * weights->nb[1];
            if (weights->type == GGML_TYPE_F32) {
                std::copy_n(reinterpret_cast<const float *>(source), row.size(), row.data());
            } else {
                to_float(source, row.data(), static_cast<int64_t>(row.size()));
            }
            std::copy_n(row.data() + head * d, d, slice.data() + i * d);
        }
        WeightedMoments moments(d);
        moments.add(slice.data(), ones.data(), outputs);
        const std::vector<double> second = moments.second();
        std::vector<double> &sum = by_kv_head[head / group];
        for (size_t i = 0; i < sum.size(); ++i) sum[i] += second[i];
    }
}

} // namespace

void Calibration::State::load(const std::string &path, const std::string &text) {
    model = load_model(path, 0, false);
    const auto layers = static_cast<int32_t>(model->hparams.n_layer());
    for (int32_t layer = 0; layer < layers; ++layer) {
        layer_shape(model.get(), layer); // throws for what cannot be mapped
    }
    moments.resize(static_cast<size_t>(layers));
    tokenize(text);
    if (options.threads <= 0) {
        options.threads = usable_processors().count;
    }
    ggml_threadpool_params pool_params = ggml_threadpool_params_default(options.threads);
    pool_params.poll = 1;
    threadpool.reset(ggml_threadpool_new(&pool_params));
    if (threadpool == nullptr) throw std::bad_alloc();

    llama_context_params params = llama_context_default_params();
    params.n_ctx = static_cast<uint32_t>(options.window);
    params.n_batch = STEP_TOKENS;
    params.n_ubatch = STEP_TOKENS;
    params.n_outputs_max = 1;
    params.n_threads = params.n_threads_batch = options.threads;
    params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_ENABLED;
    params.offload_kqv = false;
    params.swa_full = false;
    params.cb_eval_user_data = this;
    params.cb_eval = [](ggml_tensor *tensor, bool ask, void *user) {
        if (tensor->op != GGML_OP_FLASH_ATTN_EXT) return !ask;
        if (ask) return true;
        auto *state = static_cast<State *>(user);
        try {
            state->observe(tensor);
            return true;
        } catch (...) {
            state->failure = std::current_exception();
            return false;
        }
    };
    take_llama_errors();
    context.reset(llama_init_from_model(model.get(), params));
    if (context == nullptr) {
        throw Failure(Code::CONTEXT_FAILED, "llama.cpp made no context: " + take_llama_errors(),
                      "try a shorter window");
    }
    llama_attach_threadpool(context.get(), threadpool.get(), threadpool.get());
}

void Calibration::State::tokenize(const std::string &text) {
    const llama_vocab *vocab = llama_model_get_vocab(model.get());
    tokens.resize(text.size() + 2);
    const int32_t count = llama_tokenize(vocab, text.c_str(), static_cast<int32_t>(text.size()), tokens.data(),
                                         static_cast<int32_t>(tokens.size()), false, true);
    // Every window begins like a text of its own.
    const int32_t begin = llama_vocab_get_add_bos(vocab) ? 1 : 0;
    const int32_t per_window = options.window - begin;
    const int32_t windows = options.tokens / options.window;
    if (count < windows * per_window) {
        throw Failure(Code::TEXT_TOO_SHORT,
                      "the text has " + std::to_string(std::max(0, count)) + " tokens of this model, " +
                          std::to_string(windows * per_window) + " are needed",
                      "give a longer text, or ask for fewer tokens");
    }
    std::vector<llama_token> windowed;
    for (int32_t window = 0; window < windows; ++window) {
        if (begin > 0) windowed.push_back(llama_vocab_bos(vocab));
        const auto from = tokens.begin() + window * per_window;
        windowed.insert(windowed.end(), from, from + per_window);
    }
    tokens = std::move(windowed);
}

void Calibration::State::observe(const ggml_tensor *attention) {
    const ggml_tensor *keys = attention->src[1];
    const int32_t cache = cache_layer(keys);
    const size_t layer = attention_at++;
    if (cache < 0 || layer >= moments.size() || cache > static_cast<int32_t>(layer)) {
        unsupported("its graph computes attention in a form that is not known");
    }
    if (sources.size() <= layer) sources.push_back(cache);
    if (sources[layer] != cache) unsupported("its layers use caches in a changing order");
    std::vector<HeadMoments> &heads = moments[static_cast<size_t>(cache)];
    const auto kv_heads = static_cast<size_t>(keys->ne[2]);
    if (heads.empty()) {
        heads.assign(kv_heads,
                     HeadMoments(static_cast<size_t>(keys->ne[0]), static_cast<size_t>(attention->src[2]->ne[0])));
    }
    const ExactPairs exact = exact_pairs(cache, attention);
    // Heads are independent: each worker takes every n-th.
    const size_t workers = std::min<size_t>(kv_heads, static_cast<size_t>(options.threads));
    std::vector<std::exception_ptr> failures(workers);
    std::vector<std::thread> threads;
    for (size_t worker = 0; worker < workers; ++worker) {
        threads.emplace_back([&, worker] {
            try {
                for (size_t head = worker; head < kv_heads; head += workers) {
                    observe_head(attention, static_cast<int64_t>(head), exact, heads[head]);
                }
            } catch (...) {
                failures[worker] = std::current_exception();
            }
        });
    }
    for (std::thread &thread : threads) thread.join();
    for (const std::exception_ptr &failed : failures) {
        if (failed != nullptr) std::rethrow_exception(failed);
    }
}

Calibration::State::ExactPairs Calibration::State::exact_pairs(int32_t cache_layer,
                                                               const ggml_tensor *attention) const {
    const llama_hparams &hparams = model->hparams;
    const auto layer = static_cast<uint32_t>(cache_layer);
    const eliza_exact_window window{static_cast<uint32_t>(options.exact_tokens),
                                    static_cast<uint32_t>(options.exact_sinks)};
    // A layer that sees no further than the window would have no pair left.
    if (!window || (hparams.is_swa(layer) && hparams.n_swa <= 2 * window.recent)) return {};
    ExactPairs pairs{window, {}, {}};
    const int32_t first = done % options.window;
    for (int64_t q = 0; q < attention->src[0]->ne[1]; ++q) pairs.queries.push_back(static_cast<llama_pos>(first + q));
    const llama_memory_t memory = llama_get_memory(context.get());
    const auto *split = dynamic_cast<const llama_kv_cache_iswa *>(memory);
    const auto *cache = split == nullptr        ? dynamic_cast<const llama_kv_cache *>(memory)
                        : hparams.is_swa(layer) ? split->get_swa()
                                                : split->get_base();
    if (cache == nullptr) unsupported("its cache is of a kind that is not known");
    const llama_kv_cells &cells = cache->get_cells(0);
    for (int64_t k = 0; k < attention->src[1]->ne[1]; ++k) {
        const auto cell = static_cast<uint32_t>(k);
        pairs.keys.push_back(cells.is_empty(cell) ? -1 : cells.pos_get(cell));
    }
    return pairs;
}

void Calibration::State::observe_head(const ggml_tensor *attention, int64_t kv_head, const ExactPairs &exact,
                                      HeadMoments &into) const {
    const auto *params = reinterpret_cast<const float *>(attention->op_params);
    if (params[1] != 0.0f) unsupported("its attention is biased by distance (ALiBi)");
    if (attention->src[4] != nullptr) unsupported("its attention has learned sinks");
    const ggml_tensor *queries = attention->src[0];
    const int64_t group = queries->ne[2] / attention->src[1]->ne[2];
    const std::vector<float> keys = rows_of(attention->src[1], kv_head);
    const std::vector<float> values = rows_of(attention->src[2], kv_head);
    AttentionInput input;
    input.keys = keys.data();
    input.key_count = attention->src[1]->ne[1];
    input.query_count = queries->ne[1];
    input.head_dim = queries->ne[0];
    input.mask = attention->src[3];
    input.scale = params[0];
    input.softcap = params[2];
    input.exact = exact.window;
    input.query_positions = exact.queries.data();
    input.key_positions = exact.keys.data();
    std::vector<double> key_weights(static_cast<size_t>(input.key_count));
    std::vector<double> value_weights(static_cast<size_t>(input.key_count));
    for (int64_t head = kv_head * group; head < (kv_head + 1) * group; ++head) {
        const std::vector<float> rows = rows_of(queries, head);
        input.queries = rows.data();
        const AttentionWeights weights = attention_weights(input);
        for (size_t i = 0; i < key_weights.size(); ++i) {
            key_weights[i] += weights.key[i];
            value_weights[i] += weights.value[i];
        }
        into.queries.add(rows.data(), weights.query.data(), weights.query.size());
    }
    into.keys.add(keys.data(), key_weights.data(), key_weights.size());
    into.values.add(values.data(), value_weights.data(), value_weights.size());
}

StatisticsFile Calibration::State::statistics() const {
    StatisticsFile file;
    if (sources.size() != moments.size()) unsupported("not every layer of it has attention");
    file.layers = layer_layout(model.get(), context.get(), sources);
    file.tokens = done;
    file.window = options.window;
    file.exact_tokens = options.exact_tokens;
    file.exact_sinks = options.exact_sinks;
    file.softcap = model->hparams.attn_soft_cap ? model->hparams.f_attn_logit_softcapping : 0.0f;
    file.model_name = model_meta(model.get(), "general.name");
    file.caches.resize(moments.size());
    for (size_t layer = 0; layer < moments.size(); ++layer) {
        const std::vector<HeadMoments> &heads = moments[layer];
        if (heads.empty()) continue;
        CacheStatistics &cache = file.caches[layer];
        const auto d = static_cast<size_t>(file.layers[layer].head_dim_v);
        std::vector<std::vector<double>> output(heads.size(), std::vector<double>(d * d));
        for (size_t user = 0; user < sources.size(); ++user) {
            if (sources[user] == static_cast<int32_t>(layer)) {
                add_output_projection(model.get(), static_cast<uint32_t>(user), output);
            }
        }
        for (size_t head = 0; head < heads.size(); ++head) {
            const auto append = [](auto &target, const std::vector<double> &values) {
                target.insert(target.end(), values.begin(), values.end());
            };
            cache.key_weight.push_back(heads[head].keys.weight());
            cache.value_weight.push_back(heads[head].values.weight());
            append(cache.key_sum, heads[head].keys.sum());
            append(cache.value_sum, heads[head].values.sum());
            append(cache.key_second, heads[head].keys.second());
            append(cache.query_second, heads[head].queries.second());
            append(cache.value_second, heads[head].values.second());
            append(cache.output_second, output[head]);
        }
    }
    return file;
}

Calibration::Calibration(const std::string &model_path, const std::string &text, const CalibrationOptions &options)
    : state_(std::make_unique<State>()) {
    state_->options = options;
    state_->load(model_path, text);
    const auto abort = [](void *state) { return static_cast<State *>(state)->stopping.load(); };
    llama_set_abort_callback(state_->context.get(), abort, state_.get());
    stop_at_exit(this);
    renew_exit_handler();
}

Calibration::~Calibration() {
    forget_at_exit(this);
    if (state_->context != nullptr) llama_detach_threadpool(state_->context.get());
}

void Calibration::stop() {
    state_->stopping = true;
    const std::lock_guard lock(state_->stepping);
}

bool Calibration::step() {
    State &state = *state_;
    const std::lock_guard lock(state.stepping);
    if (state.done >= total()) return false;
    llama_context *context = state.context.get();
    const int32_t in_window = state.done % state.options.window;
    if (in_window == 0) llama_memory_clear(llama_get_memory(context), true);
    const int32_t count = std::min(STEP_TOKENS, state.options.window - in_window);
    state.attention_at = 0;
    const llama_batch batch = llama_batch_get_one(state.tokens.data() + state.done, count);
    const int32_t status = llama_decode(context, batch);
    if (state.failure != nullptr) std::rethrow_exception(state.failure);
    if (state.stopping) {
        throw Failure(Code::CANCELLED, "the calibration was stopped", "run it again");
    }
    if (status != 0) {
        throw Failure(Code::NATIVE_FAULT,
                      "llama_decode answered " + std::to_string(status) + ": " + take_llama_errors(),
                      "please report it with the model's name");
    }
    state.done += count;
    return state.done < total();
}

int32_t Calibration::done() const { return state_->done; }
int32_t Calibration::total() const { return static_cast<int32_t>(state_->tokens.size()); }

void Calibration::save(const std::string &path, const std::string &model_sha256, const std::string &text_sha256) const {
    if (done() < total()) {
        throw Failure(Code::INVALID_ARGUMENT,
                      "only " + std::to_string(done()) + " of " + std::to_string(total()) + " tokens are done",
                      "step to the end first");
    }
    StatisticsFile file = state_->statistics();
    file.model_sha256 = model_sha256;
    file.text_sha256 = text_sha256;
    write_statistics(path, file);
}

} // namespace eliza

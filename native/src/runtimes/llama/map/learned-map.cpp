#include "runtimes/llama/map/learned-map.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <vector>

#include "eliza_kv.h"
#include "error/failure.h"
#include "ggml-alloc.h"
#include "ggml-backend.h"
#include "gguf.h"
#include "llama-kv-cache-iswa.h"
#include "llama-kv-cache.h"
#include "llama-model.h"
#include "runtimes/llama/map/layer-layout.h"

namespace eliza {

namespace {

constexpr int32_t MAP_VERSION = 1;

// Counts up when mixing() changes.
constexpr int32_t MIXING_VERSION = 1;

struct GgufDeleter {
    void operator()(gguf_context *context) const { gguf_free(context); }
};
struct GgmlDeleter {
    void operator()(ggml_context *context) const { ggml_free(context); }
};
struct BufferDeleter {
    void operator()(ggml_backend_buffer_t buffer) const { ggml_backend_buffer_free(buffer); }
};
using GgmlPtr = std::unique_ptr<ggml_context, GgmlDeleter>;
using BufferPtr = std::unique_ptr<ggml_backend_buffer, BufferDeleter>;

class MapFile {
  public:
    explicit MapFile(const std::string &path) : path_(path), stream_(path, std::ios::binary) {
        std::error_code code;
        size_ = std::filesystem::file_size(path, code);
        if (code || !stream_) {
            throw Failure(Code::MAP_NOT_FOUND, path + " cannot be read", "check the path of the map");
        }
        gguf_.reset(gguf_init_from_file(path.c_str(), {true, nullptr}));
        if (gguf_ == nullptr || text("general.type") != "kv-map") invalid("it is no learned map");
        const int32_t version = number("map.version");
        if (version != MAP_VERSION) {
            throw Failure(Code::MAP_MISMATCH,
                          path + " has format version " + std::to_string(version) + ", this library reads " +
                              std::to_string(MAP_VERSION),
                          "calibrate the model again with this version");
        }
    }

    [[noreturn]] void invalid(const std::string &why) const {
        throw Failure(Code::MAP_INVALID, path_ + ": " + why, "calibrate the model again");
    }
    [[noreturn]] void mismatch(const std::string &what) const {
        throw Failure(Code::MAP_MISMATCH, path_ + " is the map of another model: " + what,
                      "calibrate this model, or open it without a map");
    }

    std::string text(const char *key) const {
        const int64_t id = gguf_find_key(gguf_.get(), key);
        if (id < 0 || gguf_get_kv_type(gguf_.get(), id) != GGUF_TYPE_STRING) invalid(std::string("it lacks ") + key);
        return gguf_get_val_str(gguf_.get(), id);
    }
    int32_t number(const char *key) const {
        const int64_t id = gguf_find_key(gguf_.get(), key);
        if (id < 0 || gguf_get_kv_type(gguf_.get(), id) != GGUF_TYPE_INT32) invalid(std::string("it lacks ") + key);
        return gguf_get_val_i32(gguf_.get(), id);
    }
    // 0 in files from before there was such a key.
    uint32_t count(const char *key) const {
        return gguf_find_key(gguf_.get(), key) < 0 ? 0 : static_cast<uint32_t>(std::max(0, number(key)));
    }
    std::vector<int32_t> numbers(const char *key) const {
        const int64_t id = gguf_find_key(gguf_.get(), key);
        if (id < 0 || gguf_get_kv_type(gguf_.get(), id) != GGUF_TYPE_ARRAY ||
            gguf_get_arr_type(gguf_.get(), id) != GGUF_TYPE_INT32) {
            invalid(std::string("it lacks ") + key);
        }
        const auto *values = static_cast<const int32_t *>(gguf_get_arr_data(gguf_.get(), id));
        return {values, values + gguf_get_arr_n(gguf_.get(), id)};
    }
    bool has(const std::string &tensor) const { return gguf_find_tensor(gguf_.get(), tensor.c_str()) >= 0; }

    // Float32 values of a tensor whose shape is known; finite ones.
    std::vector<float> tensor(const std::string &name, int64_t d0, int64_t d1, int64_t d2) {
        const int64_t id = gguf_find_tensor(gguf_.get(), name.c_str());
        if (id < 0) mismatch("it has no " + name);
        if (gguf_get_tensor_type(gguf_.get(), id) != GGML_TYPE_F32) invalid(name + " is not float32");
        const int64_t *shape = gguf_get_tensor_ne(gguf_.get(), id);
        if (shape[0] != d0 || shape[1] != d1 || shape[2] != d2 || shape[3] != 1) {
            mismatch(name + " is " + std::to_string(shape[0]) + " x " + std::to_string(shape[1]) + " x " +
                     std::to_string(shape[2]) + ", not " + std::to_string(d0) + " x " + std::to_string(d1) + " x " +
                     std::to_string(d2));
        }
        std::vector<float> values(static_cast<size_t>(d0 * d1 * d2));
        const uint64_t bytes = values.size() * sizeof(float);
        const uint64_t offset = gguf_get_data_offset(gguf_.get()) + gguf_get_tensor_offset(gguf_.get(), id);
        if (offset > size_ || bytes > size_ - offset) invalid("the file is cut, " + name + " is not whole");
        stream_.seekg(static_cast<std::streamoff>(offset));
        if (!stream_.read(reinterpret_cast<char *>(values.data()), static_cast<std::streamsize>(bytes))) {
            invalid(name + " cannot be read");
        }
        if (!std::ranges::all_of(values, [](float value) { return std::isfinite(value); })) {
            invalid(name + " holds NaN or infinity");
        }
        return values;
    }

  private:
    const std::string path_;
    std::ifstream stream_;
    uint64_t size_ = 0;
    std::unique_ptr<gguf_context, GgufDeleter> gguf_;
};

// The orthonormal Walsh-Hadamard transform of `block` vectors that lie `stride` values apart, for `lanes` columns.
void hadamard(float *values, int64_t block, int64_t stride, int64_t lanes) {
    for (int64_t half = 1; half < block; half *= 2) {
        for (int64_t base = 0; base < block; base += 2 * half) {
            for (int64_t i = base; i < base + half; ++i) {
                for (int64_t lane = 0; lane < lanes; ++lane) {
                    float &a = values[i * stride + lane];
                    float &b = values[(i + half) * stride + lane];
                    const float sum = a + b;
                    b = a - b;
                    a = sum;
                }
            }
        }
    }
    const float scale = 1.0f / std::sqrt(static_cast<float>(block));
    for (int64_t i = 0; i < block; ++i) {
        for (int64_t lane = 0; lane < lanes; ++lane) values[i * stride + lane] *= scale;
    }
}

// A Hadamard matrix of `count` over pieces of `width` dimensions that lie side by side; count 1 is none.
struct Mixing {
    int64_t count = 1, width = 1;
};

int64_t power_of_two_in(int64_t n) { return n & -n; }

// What mixes the map's sorted dimensions before they are coded. llama.cpp's own types have their graph's rotation: over
// the whole power of two in a key's head, 64 in a value's. Ours rotate by themselves, but tile by tile: tiles narrower
// than the head would have unequal energies, which costs more than it saves, unless the type is made for that; so
// dimensions that stand at one place in their tiles are mixed, and no tile is rotated twice.
Mixing mixing(ggml_type type, int64_t head_dim, bool key) {
    if (const eliza_kv_format *format = eliza_kv_format_by_type(type)) {
        if (format->needs_map) return {};
        return {power_of_two_in(head_dim / format->tile), format->tile};
    }
    if (!ggml_is_quantized(type) || !eliza_kv_wants_graph_rotation(type) || head_dim % 64 != 0) return {};
    return {key ? power_of_two_in(head_dim) : 64, 1};
}

// H M, for each matrix [d][d].
void mix_rows(std::vector<float> &matrices, int64_t d, Mixing mix) {
    const int64_t piece = mix.width * d;
    for (size_t at = 0; at < matrices.size(); at += static_cast<size_t>(mix.count * piece)) {
        hadamard(matrices.data() + at, mix.count, piece, piece);
    }
}

// M H.
void mix_columns(std::vector<float> &matrices, Mixing mix) {
    for (size_t at = 0; at < matrices.size(); at += static_cast<size_t>(mix.count * mix.width)) {
        hadamard(matrices.data() + at, mix.count, mix.width, mix.width);
    }
}

} // namespace

struct LearnedMap::Contents {
    eliza_kv_map graph;
    std::vector<std::unique_ptr<eliza_kv_map_layer>> layers;
    std::vector<int32_t> sources;
    std::map<ggml_backend_buffer_type_t, GgmlPtr> contexts;
    std::vector<BufferPtr> buffers;
    std::vector<std::pair<ggml_tensor *, std::vector<float>>> uploads;
    std::string path, sha256, statistics_sha256;
    int32_t context_size = 0;
    eliza_exact_window made_for;
    bool maps_keys = false;
    bool maps_values = false;
    uint64_t bytes = 0;

    ggml_tensor *add(ggml_backend_buffer_type_t place, std::vector<float> values, int64_t d0, int64_t d1, int64_t d2,
                     size_t tensors) {
        GgmlPtr &context = contexts[place];
        if (context == nullptr) context.reset(ggml_init({tensors * ggml_tensor_overhead(), nullptr, true}));
        if (context == nullptr) throw std::bad_alloc();
        ggml_tensor *tensor = ggml_new_tensor_3d(context.get(), GGML_TYPE_F32, d0, d1, d2);
        uploads.emplace_back(tensor, std::move(values));
        return tensor;
    }
};

LearnedMap::LearnedMap(const std::string &path, const llama_model *model, ggml_type type_k, ggml_type type_v,
                       bool offload)
    : contents_(std::make_unique<Contents>()) {
    Contents &contents = *contents_;
    MapFile file(path);
    contents.path = path;
    contents.sha256 = file.text("map.sha256");
    contents.statistics_sha256 = file.text("map.statistics_sha256");
    contents.context_size = file.number("map.context");
    contents.made_for = {file.count("map.exact_tokens"), file.count("map.exact_sinks")};
    contents.sources = file.numbers("layers.source");
    const auto layers = static_cast<size_t>(model->hparams.n_layer());
    const auto per_layer = [&](const char *key) {
        std::vector<int32_t> values = file.numbers(key);
        if (values.size() != layers) {
            file.mismatch("it has " + std::to_string(values.size()) + " layers, the model " + std::to_string(layers));
        }
        return values;
    };
    const std::vector<int32_t> heads = per_layer("layers.kv_heads");
    const std::vector<int32_t> dims_k = per_layer("layers.head_dim_k");
    const std::vector<int32_t> dims_v = per_layer("layers.head_dim_v");
    const std::vector<int32_t> windows = per_layer("layers.window");
    if (contents.sources.size() != layers)
        file.mismatch("it has " + std::to_string(contents.sources.size()) + " layers");
    const size_t tensors = 6 * layers;
    // A side that is not coded gains nothing; with neither coded the map is shown to be exact.
    const bool exact = !ggml_is_quantized(type_k) && !ggml_is_quantized(type_v);
    const bool map_keys = exact || ggml_is_quantized(type_k);
    const bool map_values = exact || ggml_is_quantized(type_v);
    const auto compare = [&](size_t layer, const char *what, int32_t found, int32_t model_has) {
        if (found != model_has) {
            file.mismatch("layer " + std::to_string(layer) + " has " + what + " " + std::to_string(found) +
                          " in the map, " + std::to_string(model_has) + " in the model");
        }
    };
    contents.maps_keys = map_keys;
    for (size_t layer = 0; layer < layers; ++layer) {
        const LayerLayout shape = layer_shape(model, static_cast<int32_t>(layer));
        compare(layer, "kv heads", heads[layer], shape.kv_heads);
        compare(layer, "head_dim of K", dims_k[layer], shape.head_dim_k);
        compare(layer, "head_dim of V", dims_v[layer], shape.head_dim_v);
        compare(layer, "a window of", windows[layer], shape.window);
        const int32_t source = contents.sources[layer];
        if (source < 0 || source > static_cast<int32_t>(layer) ||
            (source < static_cast<int32_t>(layer) && contents.sources[source] != source)) {
            file.invalid("layer " + std::to_string(layer) + " shares the cache of layer " + std::to_string(source));
        }
        if (source < static_cast<int32_t>(layer)) {
            contents.graph.layers.push_back(contents.graph.layers[static_cast<size_t>(source)]);
            continue;
        }
        auto entry = std::make_unique<eliza_kv_map_layer>();
        ggml_backend_buffer_type_t place = ggml_backend_cpu_buffer_type();
        if (offload) place = ggml_backend_dev_buffer_type(model->dev_layer(static_cast<int>(layer)));
        const std::string prefix = "blk." + std::to_string(layer) + ".";
        const int64_t kv_heads = shape.kv_heads;
        const auto read = [&](const std::string &side, int64_t d, ggml_type type, bool key) {
            std::vector<float> store = file.tensor(prefix + side + ".store", d, d, kv_heads);
            std::vector<float> back = file.tensor(prefix + side + ".read", d, d, kv_heads);
            std::vector<float> mean = file.tensor(prefix + side + ".mean", d, kv_heads, 1);
            if (const Mixing mix = mixing(type, d, key); mix.count > 1) {
                mix_rows(store, d, mix);
                if (key) {
                    mix_rows(back, d, mix);
                } else {
                    mix_columns(back, mix);
                }
            }
            return eliza_kv_map_side{contents.add(place, std::move(store), d, d, kv_heads, tensors),
                                     contents.add(place, std::move(back), d, d, kv_heads, tensors),
                                     contents.add(place, std::move(mean), d, kv_heads, 1, tensors)};
        };
        if (map_keys) entry->k = read("key", shape.head_dim_k, type_k, true);
        if (map_values && file.has(prefix + "value.store")) {
            entry->v = read("value", shape.head_dim_v, type_v, false);
            contents.maps_values = true;
        }
        contents.graph.layers.push_back(entry.get());
        contents.layers.push_back(std::move(entry));
    }
    for (auto &[place, context] : contents.contexts) {
        BufferPtr buffer(ggml_backend_alloc_ctx_tensors_from_buft(context.get(), place));
        if (buffer == nullptr) throw std::bad_alloc();
        ggml_backend_buffer_set_usage(buffer.get(), GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
        contents.bytes += ggml_backend_buffer_get_size(buffer.get());
        contents.buffers.push_back(std::move(buffer));
    }
    for (const auto &[tensor, values] : contents.uploads) {
        ggml_backend_tensor_set(tensor, values.data(), 0, ggml_nbytes(tensor));
    }
    contents.uploads.clear();
}

LearnedMap::~LearnedMap() = default;

const eliza_kv_map *LearnedMap::graph() const { return &contents_->graph; }
uint64_t LearnedMap::bytes() const { return contents_->bytes; }
std::string LearnedMap::identity() const { return sha256() + "@" + std::to_string(MIXING_VERSION); }

const std::string &LearnedMap::sha256() const { return contents_->sha256; }
const std::string &LearnedMap::statistics_sha256() const { return contents_->statistics_sha256; }
int32_t LearnedMap::context_size() const { return contents_->context_size; }
eliza_exact_window LearnedMap::made_for() const { return contents_->made_for; }
bool LearnedMap::maps_keys() const { return contents_->maps_keys; }
bool LearnedMap::maps_values() const { return contents_->maps_values; }

void LearnedMap::check_sharing(const llama_context *context) const {
    const llama_memory_t memory = llama_get_memory(context);
    const auto *split = dynamic_cast<const llama_kv_cache_iswa *>(memory);
    const auto *plain = dynamic_cast<const llama_kv_cache *>(memory);
    if (split == nullptr && plain == nullptr) {
        throw Failure(Code::MAP_UNSUPPORTED, "this model's cache is of a kind that takes no map",
                      "open it without a map (kv_map off)");
    }
    const size_t layers = contents_->sources.size();
    std::vector<const ggml_tensor *> storage(layers, nullptr);
    std::vector<const llama_kv_cache *> caches{plain};
    if (split != nullptr) caches = {split->get_base(), split->get_swa()};
    for (const llama_kv_cache *cache : caches) {
        for (const uint32_t layer : cache->get_layer_ids()) {
            storage.at(layer) = cache->get_k_storage(static_cast<int32_t>(layer));
        }
    }
    for (size_t layer = 0; layer < layers; ++layer) {
        const bool own = contents_->sources[layer] == static_cast<int32_t>(layer);
        if (own != (storage[layer] != nullptr)) {
            throw Failure(Code::MAP_MISMATCH,
                          contents_->path + " is the map of another model: layer " + std::to_string(layer) +
                              (own ? " has no cache of its own here" : " has its own cache here"),
                          "calibrate this model, or open it without a map");
        }
    }
}

} // namespace eliza

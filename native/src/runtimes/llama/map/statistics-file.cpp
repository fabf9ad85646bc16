#include "runtimes/llama/map/statistics-file.h"

#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "error/failure.h"
#include "ggml.h"
#include "gguf.h"

namespace eliza {

namespace {

struct GgufDeleter {
    void operator()(gguf_context *context) const { gguf_free(context); }
};
struct GgmlDeleter {
    void operator()(ggml_context *context) const { ggml_free(context); }
};

class Writer {
  public:
    Writer() : gguf_(gguf_init_empty()) {}

    void text(const char *key, const std::string &value) { gguf_set_val_str(gguf_.get(), key, value.c_str()); }
    void number(const char *key, int32_t value) { gguf_set_val_i32(gguf_.get(), key, value); }
    void real(const char *key, float value) { gguf_set_val_f32(gguf_.get(), key, value); }

    template <typename Field> void per_layer(const char *key, const std::vector<LayerLayout> &layers, Field field) {
        std::vector<int32_t> values;
        for (const LayerLayout &layer : layers) values.push_back(static_cast<int32_t>(field(layer)));
        gguf_set_arr_data(gguf_.get(), key, GGUF_TYPE_INT32, values.data(), values.size());
    }

    template <typename Value>
    void tensor(const std::string &name, const std::vector<Value> &values, int64_t d0, int64_t d1, int64_t d2) {
        constexpr ggml_type type = sizeof(Value) == 8 ? GGML_TYPE_F64 : GGML_TYPE_F32;
        contexts_.emplace_back(ggml_init({ggml_tensor_overhead(), nullptr, true}));
        if (contexts_.back() == nullptr) throw std::bad_alloc();
        ggml_tensor *tensor = ggml_new_tensor_3d(contexts_.back().get(), type, d0, d1, d2);
        ggml_set_name(tensor, name.c_str());
        tensor->data = const_cast<Value *>(values.data());
        gguf_add_tensor(gguf_.get(), tensor);
    }

    bool write(const std::string &path) const { return gguf_write_to_file(gguf_.get(), path.c_str(), false); }

  private:
    std::unique_ptr<gguf_context, GgufDeleter> gguf_;
    std::vector<std::unique_ptr<ggml_context, GgmlDeleter>> contexts_;
};

void add_cache(Writer &writer, size_t at, const LayerLayout &layout, const CacheStatistics &cache) {
    const std::string prefix = "blk." + std::to_string(at) + ".";
    const int64_t heads = layout.kv_heads;
    const int64_t k = layout.head_dim_k;
    const int64_t v = layout.head_dim_v;
    writer.tensor(prefix + "key.weight", cache.key_weight, heads, 1, 1);
    writer.tensor(prefix + "key.sum", cache.key_sum, k, heads, 1);
    writer.tensor(prefix + "key.second", cache.key_second, k, k, heads);
    writer.tensor(prefix + "query.second", cache.query_second, k, k, heads);
    writer.tensor(prefix + "value.weight", cache.value_weight, heads, 1, 1);
    writer.tensor(prefix + "value.sum", cache.value_sum, v, heads, 1);
    writer.tensor(prefix + "value.second", cache.value_second, v, v, heads);
    writer.tensor(prefix + "output.second", cache.output_second, v, v, heads);
    if (!layout.frequencies.empty()) {
        writer.tensor(prefix + "rope.frequencies", layout.frequencies, static_cast<int64_t>(layout.frequencies.size()),
                      1, 1);
    }
}

} // namespace

void write_statistics(const std::string &path, const StatisticsFile &file) {
    Writer writer;
    writer.text("general.type", "kv-statistics");
    writer.text("general.name", file.model_name);
    writer.number("statistics.version", STATISTICS_VERSION);
    writer.text("statistics.model_sha256", file.model_sha256);
    writer.text("statistics.text_sha256", file.text_sha256);
    writer.number("statistics.tokens", file.tokens);
    writer.number("statistics.window", file.window);
    writer.number("statistics.exact_tokens", file.exact_tokens);
    writer.number("statistics.exact_sinks", file.exact_sinks);
    writer.real("statistics.softcap", file.softcap);
    writer.per_layer("layers.source", file.layers, [](const LayerLayout &layer) { return layer.source; });
    writer.per_layer("layers.kv_heads", file.layers, [](const LayerLayout &layer) { return layer.kv_heads; });
    writer.per_layer("layers.head_dim_k", file.layers, [](const LayerLayout &layer) { return layer.head_dim_k; });
    writer.per_layer("layers.head_dim_v", file.layers, [](const LayerLayout &layer) { return layer.head_dim_v; });
    writer.per_layer("layers.window", file.layers, [](const LayerLayout &layer) { return layer.window; });
    writer.per_layer("layers.rope", file.layers, [](const LayerLayout &layer) { return layer.rope; });
    for (size_t layer = 0; layer < file.caches.size(); ++layer) {
        if (!file.caches[layer].key_weight.empty()) add_cache(writer, layer, file.layers[layer], file.caches[layer]);
    }
    const std::string partial = path + ".new";
    std::error_code code;
    if (!writer.write(partial)) {
        std::filesystem::remove(partial, code);
        throw Failure(Code::PERMISSION_DENIED, partial + " could not be written",
                      "check that the folder exists and has room");
    }
    std::filesystem::rename(partial, path, code);
    if (code) {
        std::error_code ignored;
        std::filesystem::remove(partial, ignored);
        throw Failure(Code::PERMISSION_DENIED, path + " could not be written (" + code.message() + ")",
                      "check the folder's permissions");
    }
}

} // namespace eliza

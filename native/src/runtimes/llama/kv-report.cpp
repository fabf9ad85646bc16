#include "runtimes/llama/kv-report.h"

#include <cstdlib>

#include <nlohmann/json.hpp>

#include "eliza_kv.h"
#include "exact-cache.h"
#include "ggml-cpp.h"
#include "llama-kv-cache-iswa.h"
#include "llama-kv-cache.h"
#include "llama-memory-hybrid-iswa.h"
#include "llama-memory-hybrid.h"
#include "llama-model.h"
#include "runtimes/llama/cache-types.h"

namespace eliza {

namespace {

using nlohmann::json;

// A place to make views in; llama.cpp says what it does through the tensors that it would compute with.
ggml_context_ptr view_context() { return ggml_context_ptr(ggml_init({ggml_tensor_overhead(), nullptr, true})); }

// Width of the Hadamard matrix that the graph multiplies heads with, 0 for none.
int64_t rotation_width(const llama_kv_cache *cache, char side) {
    const ggml_context_ptr context = view_context();
    const ggml_tensor *matrix =
        side == 'K' ? cache->build_input_k_rot(context.get()) : cache->build_input_v_rot(context.get());
    return matrix != nullptr ? matrix->ne[0] : 0;
}

ggml_type v_type(const llama_kv_cache *cache, int32_t layer) {
    const ggml_context_ptr context = view_context();
    llama_kv_cache::slot_info first{};
    return cache->get_v(context.get(), layer, 1, first)->type;
}

struct Asked {
    ggml_type k, v;
};

class CacheReport {
  public:
    CacheReport(const llama_hparams &hparams, const Asked &asked) : hparams_(hparams), asked_(asked) {}

    void add(const llama_kv_cache *cache, const char *kind) {
        const uint64_t cells = cache->get_size();
        const uint64_t streams = cache->get_n_stream();
        const int64_t rotation_k = rotation_width(cache, 'K');
        const int64_t rotation_v = hparams_.is_mla() ? 0 : rotation_width(cache, 'V');
        json layers = json::array();
        for (const uint32_t layer : cache->get_layer_ids()) {
            const auto id = static_cast<int32_t>(layer);
            const ggml_tensor *k = cache->get_k_storage(id);
            json entry = {{"layer", layer},
                          {"kind", kind},
                          {"window", hparams_.is_swa(layer) ? hparams_.n_swa : 0},
                          {"kvHeads", hparams_.n_head_kv(layer)},
                          {"headDimK", hparams_.n_embd_head_k(layer)},
                          {"headDimV", hparams_.n_embd_head_v(layer)},
                          {"k", cache_type_name(k->type)},
                          {"kTile", ggml_blck_size(k->type)},
                          {"kRotation", rotation_k},
                          {"kBytesPerToken", ggml_nbytes(k) / (cells * streams)}};
            explain(layer, 'K', asked_.k, k->type, rotation_k);
            if (hparams_.is_mla()) {
                entry.update({{"v", nullptr}, {"vTile", 0}, {"vRotation", 0}, {"vBytesPerToken", 0}});
                differ(layer, 'V', cache_type_name(asked_.v), "none",
                       "this model keeps one compressed row for K and V together");
            } else {
                const ggml_type v = v_type(cache, id);
                entry.update({{"v", cache_type_name(v)},
                              {"vTile", ggml_blck_size(v)},
                              {"vRotation", rotation_v},
                              {"vBytesPerToken", ggml_row_size(v, hparams_.n_embd_v_gqa(layer))}});
                explain(layer, 'V', asked_.v, v, rotation_v);
            }
            owners_[k] = layer;
            layers.push_back(std::move(entry));
        }
        uint64_t bytes = 0;
        for (const auto &[buffer_type, size] : cache->memory_breakdown()) bytes += size;
        measured_ += bytes;
        if (cache->exact != nullptr) {
            exact_rows_ = std::max(exact_rows_, cache->exact->rows());
            exact_bytes_ += cache->exact->bytes();
        }
        caches_.push_back(
            {{"kind", kind}, {"cells", cells}, {"streams", streams}, {"bytes", bytes}, {"layers", layers}});
        // Layers without keys of their own are known to the cache under the layer that they share with.
        for (uint32_t layer = 0; layer < hparams_.n_layer(); ++layer) {
            if (hparams_.has_kv(layer) || hparams_.is_swa(layer) != (std::string(kind) == "sliding-window")) continue;
            json entry = {{"layer", layer}, {"kind", kind}, {"from", nullptr}};
            try {
                entry["from"] = owners_.at(cache->get_k_storage(static_cast<int32_t>(layer)));
            } catch (const std::out_of_range &) {
                // kept by another cache, or by none
            }
            shared_.push_back(std::move(entry));
        }
    }

    void add_bytes(const llama_memory_i *memory) {
        for (const auto &[buffer_type, size] : memory->memory_breakdown()) measured_ += size;
    }

    json take(const Engine &engine, const ContextShape &shape) {
        const auto rotated = [&](const char *key) {
            for (const json &cache : caches_) {
                for (const json &layer : cache["layers"]) {
                    if (layer[key] != 0) return true;
                }
            }
            return false;
        };
        const llama_hparams &hparams = engine.model()->hparams;
        json recurrent = json::array();
        for (uint32_t layer = 0; layer < hparams.n_layer(); ++layer) {
            if (hparams.is_recr(layer)) recurrent.push_back(layer);
        }
        return {{"typeK", cache_type_name(shape.type_k)},
                {"typeV", cache_type_name(shape.type_v)},
                {"graphRotationK", rotated("kRotation")},
                {"graphRotationV", rotated("vRotation")},
                {"bytesPerToken", cache_bytes_per_token(hparams, shape.type_k, shape.type_v)},
                {"bytesComputed", cache_bytes(hparams, shape)},
                {"bytesTotal", measured_},
                {"caches", caches_},
                {"layersSharingKv", shared_},
                {"recurrentLayers", recurrent},
                {"differences", differences_},
                {"exact", exact_report(shape, eliza_exact_serves(*engine.model()))},
                {"kernels", eliza_kv_isa()}};
    }

  private:
    // Read back: no rows, no exact tokens.
    json exact_report(const ContextShape &shape, bool serves) const {
        const bool coded = ggml_is_quantized(shape.type_k) || ggml_is_quantized(shape.type_v);
        const bool there = exact_bytes_ > 0;
        json reason = nullptr;
        if (!there) {
            reason = !coded        ? "neither K nor V is coded"
                     : !serves     ? "this kind of model can keep no exact rows"
                     : shape.exact ? "this kind of cache can keep no exact rows"
                                   : "turned off";
        }
        return {{"tokens", there ? shape.exact.recent : 0},
                {"sinks", there ? shape.exact.sinks : 0},
                {"rowsPerStream", exact_rows_},
                {"bytes", exact_bytes_},
                {"reason", reason}};
    }

    void differ(uint32_t layer, char side, const std::string &asked, const std::string &used,
                const std::string &reason) {
        differences_.push_back(
            {{"layer", layer}, {"side", std::string(1, side)}, {"asked", asked}, {"used", used}, {"reason", reason}});
    }

    void explain(uint32_t layer, char side, ggml_type asked, ggml_type used, int64_t rotation) {
        if (used != asked) {
            differ(layer, side, cache_type_name(asked), cache_type_name(used), "the runtime allocated another type");
        }
        if (!ggml_is_quantized(used) || !eliza_kv_wants_graph_rotation(used) || rotation > 0) return;
        const uint32_t head_dim = side == 'K' ? hparams_.n_embd_head_k(layer) : hparams_.n_embd_head_v(layer);
        const char *disabled = std::getenv("LLAMA_ATTN_ROT_DISABLE");
        differ(layer, side, "rotated by the graph", "not rotated",
               disabled != nullptr && std::atoi(disabled) != 0 ? "LLAMA_ATTN_ROT_DISABLE is set"
               : head_dim % 64 != 0 ? "head_dim " + std::to_string(head_dim) + " is not a multiple of 64"
                                    : "the cache holds heads of different sizes");
    }

    const llama_hparams &hparams_;
    const Asked asked_;
    std::map<const ggml_tensor *, uint32_t> owners_;
    uint64_t measured_ = 0;
    uint32_t exact_rows_ = 0;
    uint64_t exact_bytes_ = 0;
    json caches_ = json::array();
    json shared_ = json::array();
    json differences_ = json::array();
};

json map_report(const LearnedMap *map, const std::string &path) {
    if (map == nullptr) return nullptr;
    return {{"path", path},
            {"sha256", map->sha256()},
            {"statisticsSha256", map->statistics_sha256()},
            {"contextSize", map->context_size()},
            {"exactTokens", map->made_for().recent},
            {"exactSinks", map->made_for().sinks},
            {"keys", map->maps_keys()},
            {"values", map->maps_values()},
            {"bytes", map->bytes()}};
}

} // namespace

json kv_report(const Engine &engine, const Sequence &sequence) {
    const ContextShape &shape = sequence.shared->shape;
    CacheReport report(engine.model()->hparams, {shape.type_k, shape.type_v});
    const llama_memory_t memory = llama_get_memory(sequence.shared->context.get());
    const auto add_split = [&](const llama_kv_cache_iswa *split) {
        report.add(split->get_base(), "full");
        report.add(split->get_swa(), "sliding-window");
    };
    if (const auto *split = dynamic_cast<const llama_kv_cache_iswa *>(memory)) {
        add_split(split);
    } else if (const auto *plain = dynamic_cast<const llama_kv_cache *>(memory)) {
        report.add(plain, "full");
    } else if (const auto *hybrid = dynamic_cast<const llama_memory_hybrid *>(memory)) {
        report.add(hybrid->get_mem_attn(), "full");
        report.add_bytes(hybrid->get_mem_recr());
    } else if (const auto *hybrid_split = dynamic_cast<const llama_memory_hybrid_iswa *>(memory)) {
        add_split(hybrid_split->get_mem_attn());
        report.add_bytes(hybrid_split->get_mem_recr());
    } else if (memory != nullptr) {
        report.add_bytes(memory);
    }
    json kv = report.take(engine, shape);
    kv["map"] = map_report(sequence.shared->map.get(), shape.kv_map);
    return kv;
}

} // namespace eliza

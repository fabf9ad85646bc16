#include "runtimes/llama/cache-types.h"

#include <algorithm>
#include <vector>

#include <nlohmann/json.hpp>

#include "eliza_kv.h"
#include "error/failure.h"
#include "llama-hparams.h"

namespace eliza {

namespace {

struct CacheType {
    std::string name;
    ggml_type type;
    int32_t tile;
    bool keys_only;
    bool needs_map;
};

// llama.cpp's own cache types, then ours; several entries of a name differ by tile, the largest first.
const std::vector<CacheType> &cache_types() {
    static const std::vector<CacheType> types = [] {
        std::vector<CacheType> all;
        for (const ggml_type type : {GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_BF16, GGML_TYPE_Q8_0, GGML_TYPE_Q5_1,
                                     GGML_TYPE_Q5_0, GGML_TYPE_Q4_1, GGML_TYPE_Q4_0, GGML_TYPE_IQ4_NL}) {
            all.push_back({ggml_type_name(type), type, static_cast<int32_t>(ggml_blck_size(type)), false, false});
        }
        size_t count = 0;
        const eliza_kv_format *formats = eliza_kv_formats(&count);
        for (size_t i = 0; i < count; ++i) {
            all.push_back({eliza_kv_cache_name(formats[i].type), static_cast<ggml_type>(formats[i].type),
                           formats[i].tile, formats[i].keys_only, formats[i].needs_map});
        }
        return all;
    }();
    return types;
}

std::string list_names(const std::vector<std::string> &names) {
    std::string text;
    for (const std::string &name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

uint32_t head_size(const llama_hparams &hparams, uint32_t layer, char side) {
    return side == 'K' ? hparams.n_embd_head_k(layer) : hparams.n_embd_head_v(layer);
}

// The first layer whose heads the type cannot code, or -1. A mixed type codes heads of one size, whole.
int32_t misfit(const CacheType &type, const llama_hparams &hparams, char side) {
    for (uint32_t layer = 0; layer < hparams.n_layer(); ++layer) {
        const auto size = static_cast<int32_t>(head_size(hparams, layer, side));
        if (type.needs_map ? size != type.tile : size % type.tile != 0) return static_cast<int32_t>(layer);
    }
    return -1;
}

} // namespace

ggml_type cache_type_by_name(const char *name, char side) {
    if (name == nullptr || name[0] == '\0') return GGML_TYPE_F16;
    std::vector<std::string> known;
    for (const CacheType &type : cache_types()) {
        if (side == 'V' && type.keys_only) {
            if (type.name == name) {
                throw Failure(Code::CACHE_TYPE_UNSUPPORTED,
                              std::string("cache type \"") + name + "\" stores keys only and was asked for V",
                              "choose another cache_type_v");
            }
            continue;
        }
        if (type.name == name) return type.type;
        if (std::ranges::find(known, type.name) == known.end()) known.push_back(type.name);
    }
    throw Failure(Code::CACHE_TYPE_UNSUPPORTED,
                  std::string("cache type \"") + name + "\" for " + side + " is not known",
                  "the cache types are " + list_names(known));
}

ggml_type cache_type_for_heads(ggml_type type, const llama_hparams &hparams, char side, bool has_map) {
    const std::string name = cache_type_name(type);
    std::vector<std::string> fitting;
    int32_t layer = 0;
    for (const CacheType &candidate : cache_types()) {
        const int32_t unfit = misfit(candidate, hparams, side);
        if (candidate.name == name) {
            if (candidate.needs_map && !has_map) {
                throw Failure(Code::CACHE_TYPE_UNSUPPORTED,
                              "cache type " + name + " exists only behind a learned map, and none is in use",
                              "calibrate the model, or choose a type without _mix");
            }
            if (unfit < 0) return candidate.type;
            layer = unfit;
        }
        const bool usable = unfit < 0 && !(side == 'V' && candidate.keys_only) && (has_map || !candidate.needs_map);
        if (usable && std::ranges::find(fitting, candidate.name) == fitting.end()) fitting.push_back(candidate.name);
    }
    const auto misfitting = static_cast<uint32_t>(layer);
    throw Failure(Code::CACHE_TYPE_UNSUPPORTED,
                  "cache type " + name + " for " + side + " does not fit head_dim " +
                      std::to_string(head_size(hparams, misfitting, side)) + " (layer " + std::to_string(misfitting) +
                      ")",
                  "types that fit this model: " + list_names(fitting));
}

std::string cache_type_name(ggml_type type) {
    for (const CacheType &candidate : cache_types()) {
        if (candidate.type == type) return candidate.name;
    }
    return ggml_type_name(type);
}

std::string cache_type_hash(ggml_type type) {
    struct FormatHash {
        const char *name;
        int32_t tile;
        const char *hash;
    };
    static const FormatHash hashes[] = {
#include "format-hashes.inc"
    };
    const eliza_kv_format *format = eliza_kv_format_by_type(type);
    if (format == nullptr) return "";
    const std::string name = eliza_kv_cache_name(type);
    for (const FormatHash &entry : hashes) {
        if (entry.name == name && entry.tile == format->tile) return entry.hash;
    }
    throw std::logic_error("no hash of the format " + name);
}

std::string describe_cache_types() {
    auto list = nlohmann::json::array();
    for (const CacheType &type : cache_types()) {
        list.push_back({{"name", type.name},
                        {"tile", type.tile},
                        {"bytesPerTile", ggml_type_size(type.type)},
                        {"bitsPerValue", 8.0 * static_cast<double>(ggml_type_size(type.type)) / type.tile},
                        {"keysOnly", type.keys_only},
                        {"needsMap", type.needs_map},
                        {"graphRotation", ggml_is_quantized(type.type) && eliza_kv_wants_graph_rotation(type.type)}});
    }
    return list.dump();
}

} // namespace eliza

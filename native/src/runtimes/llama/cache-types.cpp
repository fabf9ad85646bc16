#include "runtimes/llama/cache-types.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <vector>

#include <nlohmann/json.hpp>

#include "eliza_kv.h"
#include "error/failure.h"
#include "ggml-backend.h"
#include "ggml/device-support.h"
#include "llama-model.h"

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

uint32_t head_size(const llama_model &model, uint32_t layer, char side) {
    return side == 'K' ? model.hparams.n_embd_head_k(layer) : model.hparams.n_embd_head_v(layer);
}

struct Misfit {
    uint32_t layer;
    std::string device;
    eliza_cache_operation operation;
    eliza_cache_answer answer;
};

// The first layer, and on it the first operation, that the device of the layer's cache cannot do on this type.
std::optional<Misfit> misfit(ggml_type type, const CacheSide &side) {
    for (uint32_t layer = 0; layer < side.model.hparams.n_layer(); ++layer) {
        const auto size = static_cast<int32_t>(head_size(side.model, layer, side.name));
        if (size == 0) continue; // no attention in this layer
        const std::string device = cache_device(side.model, layer);
        for (const eliza_cache_operation operation :
             {ELIZA_CACHE_WRITE, ELIZA_CACHE_ATTEND, ELIZA_CACHE_ATTEND_EXACT}) {
            if (operation == ELIZA_CACHE_ATTEND_EXACT && !side.exact_window) continue;
            const auto answer = eliza_device_supports(device.c_str(), operation, side.name, type, size);
            if (answer != ELIZA_CACHE_SUPPORTED) return Misfit{layer, device, operation, answer};
        }
    }
    return std::nullopt;
}

std::string refusal(const std::string &name, const Misfit &misfit, const CacheSide &side) {
    const std::string what = "cache type " + name + " for " + side.name;
    const std::string layer = " (layer " + std::to_string(misfit.layer) + ")";
    switch (misfit.answer) {
    case ELIZA_CACHE_NO_HEAD_SIZE:
        return what + " does not fit head_dim " + std::to_string(head_size(side.model, misfit.layer, side.name)) +
               layer;
    case ELIZA_CACHE_NO_TYPE:
        return what + " is not computed on " + misfit.device + layer;
    default:
        return what + ": " + eliza_cache_operation_name(misfit.operation) + " is not computed on " + misfit.device +
               layer;
    }
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

std::string cache_device(const llama_model &model, uint32_t layer) {
    ggml_backend_dev_t device = model.dev_layer(static_cast<int>(layer));
    if (device == nullptr || ggml_backend_dev_type(device) == GGML_BACKEND_DEVICE_TYPE_CPU) return "cpu";
    std::string name = ggml_backend_reg_name(ggml_backend_dev_backend_reg(device));
    std::ranges::transform(name, name.begin(), [](unsigned char letter) { return std::tolower(letter); });
    return name;
}

ggml_type cache_type_for_heads(ggml_type type, const CacheSide &side) {
    const std::string name = cache_type_name(type);
    std::vector<std::string> fitting;
    std::optional<Misfit> unfit;
    for (const CacheType &candidate : cache_types()) {
        const std::optional<Misfit> found = misfit(candidate.type, side);
        const bool mapped = side.has_map || !candidate.needs_map;
        if (candidate.name == name) {
            if (!mapped) {
                throw Failure(Code::CACHE_TYPE_UNSUPPORTED,
                              "cache type " + name + " exists only behind a learned map, and none is in use",
                              "calibrate the model, or choose a type without _mix");
            }
            if (!found) return candidate.type;
            unfit = found;
        }
        if (!found && mapped && std::ranges::find(fitting, candidate.name) == fitting.end()) {
            fitting.push_back(candidate.name);
        }
    }
    throw Failure(Code::CACHE_TYPE_UNSUPPORTED, refusal(name, *unfit, side),
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

std::string describe_device_support() {
    auto list = nlohmann::json::array();
    size_t count = 0;
    const eliza_device_support *rows = eliza_device_support_rows(&count);
    for (size_t i = 0; i < count; ++i) {
        const eliza_device_support &row = rows[i];
        auto sides = nlohmann::json::array();
        if (row.keys) sides.push_back("K");
        if (row.values) sides.push_back("V");
        auto operations = nlohmann::json::array();
        for (int operation = 0; operation < ELIZA_CACHE_OPERATIONS; ++operation) {
            if ((row.operations >> operation & 1) == 0) continue;
            operations.push_back(eliza_cache_operation_name(static_cast<eliza_cache_operation>(operation)));
        }
        list.push_back({{"device", row.device},
                        {"type", cache_type_name(static_cast<ggml_type>(row.type))},
                        {"headDim", {{row.whole_head ? "equal" : "multipleOf", row.tile}}},
                        {"sides", sides},
                        {"operations", operations}});
    }
    return list.dump();
}

} // namespace eliza

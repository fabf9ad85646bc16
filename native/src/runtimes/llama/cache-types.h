#pragma once

#include <cstdint>
#include <string>

#include "ggml.h"

struct llama_model;

namespace eliza {

// The ggml type of a cache type's name; NULL or "" is f16. `side` is 'K' or 'V', for the message and for what only
// one side may use. Throws CACHE_TYPE_UNSUPPORTED with the names that are known.
ggml_type cache_type_by_name(const char *name, char side);

// One side of a model's cache, and what it is used with.
struct CacheSide {
    const llama_model &model;
    char name;            // 'K' or 'V'
    bool has_map = false; // goes through a learned map, which the mixed types need
    bool exact_window = false;
};

// The device that holds a layer's K and V, by its backend: "cpu", "cuda", "vulkan", "metal".
std::string cache_device(const llama_model &model, uint32_t layer);

// The type that codes heads of this size under the same name: some formats have a tile of 64 beside the one of 128.
// Throws CACHE_TYPE_UNSUPPORTED, which names device, operation and layer that lack it and lists the types that would
// fit, if ggml/device-support.h has none.
ggml_type cache_type_for_heads(ggml_type type, const CacheSide &side);

// The name without its tile: "turbo3_tcq", whichever tile is in use.
std::string cache_type_name(ggml_type type);

// Of what the type's bytes decode to: empty for llama.cpp's own types, which its version tells apart.
std::string cache_type_hash(ggml_type type);

// The JSON of eliza_inference_cache_types.
std::string describe_cache_types();

// The JSON of eliza_inference_device_support.
std::string describe_device_support();

} // namespace eliza

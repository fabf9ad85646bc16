#pragma once

#include <cstdint>
#include <string>

#include "ggml.h"

struct llama_hparams;

namespace eliza {

// The ggml type of a cache type's name; NULL or "" is f16. `side` is 'K' or 'V', for the message and for what only
// one side may use. Throws CACHE_TYPE_UNSUPPORTED with the names that are known.
ggml_type cache_type_by_name(const char *name, char side);

// The type that codes heads of this size under the same name: some formats have a tile of 64 beside the one of 128.
// has_map: K goes through a learned map, which the mixed types need. Throws CACHE_TYPE_UNSUPPORTED, which lists the
// types that would fit, if none does.
ggml_type cache_type_for_heads(ggml_type type, const llama_hparams &hparams, char side, bool has_map = false);

// The name without its tile: "turbo3_tcq", whichever tile is in use.
std::string cache_type_name(ggml_type type);

// Of what the type's bytes decode to: empty for llama.cpp's own types, which its version tells apart.
std::string cache_type_hash(ggml_type type);

// The JSON of eliza_inference_cache_types.
std::string describe_cache_types();

} // namespace eliza

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "exact-window.h"
#include "kv-map.h"
#include "llama.h"

namespace eliza {

// A solved map as a file has it, put where the layers compute.
class LearnedMap {
  public:
    // Reads a map for this model. The matrices take llama.cpp's own rotation in, for types that want it.
    // Throws MAP_NOT_FOUND, MAP_INVALID (no map, cut, NaN inside), MAP_MISMATCH (another model's layers, heads,
    // windows), MAP_UNSUPPORTED, OUT_OF_MEMORY.
    LearnedMap(const std::string &path, const llama_model *model, ggml_type type_k, ggml_type type_v, bool offload);
    ~LearnedMap();

    const eliza_kv_map *graph() const;
    uint64_t bytes() const;
    // Of what the cache holds behind it: the map's hash, and a count that goes up when the same file and type give other
    // matrices.
    std::string identity() const;
    // Of the map and of the statistics that it was solved from, as the file states them.
    const std::string &sha256() const;
    const std::string &statistics_sha256() const;
    // Tokens that it was spread over.
    int32_t context_size() const;
    // The exact window whose pairs were left out of its statistics.
    eliza_exact_window made_for() const;
    bool maps_keys() const;
    bool maps_values() const;

    // Throws MAP_MISMATCH if the context's layers share caches otherwise than the map's.
    void check_sharing(const llama_context *context) const;

  private:
    struct Contents;
    std::unique_ptr<Contents> contents_;
};

} // namespace eliza

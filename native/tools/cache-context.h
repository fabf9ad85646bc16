// A cache as the tools name it, K/V~W,S@BATCH+map, and a context that has it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "ggml.h"
#include "llama.h"
#ifdef ELIZA_MAPS
#include "runtimes/llama/map/learned-map.h"
using MapPtr = std::unique_ptr<eliza::LearnedMap>;
#else
using MapPtr = std::unique_ptr<int>;
#endif

struct Cache {
    std::string name; // as it was asked for
    std::string k, v;
    int32_t batch = 0; // 0: ubatch
    std::string map;   // key of its learned map, empty for none
    uint32_t exact_tokens = 0, exact_sinks = 0;
};

// Throws std::runtime_error where it is no cache's name.
Cache parse_cache(const std::string &asked);

// The type of that name; of several, which differ by the tile behind the name, the widest that divides the heads.
// GGML_TYPE_COUNT if none does.
ggml_type find_type(const std::string &name, uint32_t head_dim);

struct ContextDeleter {
    void operator()(llama_context *context) const { llama_free(context); }
};

// The map outlives the context that computes with it.
struct MappedContext {
    MapPtr map;
    std::unique_ptr<llama_context, ContextDeleter> context;

    llama_context *get() const { return context.get(); }
    explicit operator bool() const { return context != nullptr; }
};

// A context of these parameters with the cache's types, window and map (a solved one's file, by its key). Empty where
// the types do not fit the model's heads; throws std::runtime_error where llama.cpp without edits is asked for more
// than it has, or the map is not the model's.
MappedContext make_context(llama_model *model, const Cache &cache, llama_context_params params,
                           const std::map<std::string, std::string> &maps);

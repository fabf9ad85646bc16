// The exact window as llama.cpp's headers name it.
#pragma once

#include <cstdint>
#include <memory>

struct ggml_tensor;
struct llama_model;
class eliza_exact_cache;
class eliza_exact_input;

struct eliza_exact_deleter {
    void operator()(eliza_exact_cache *exact) const;
};
using eliza_exact_ptr = std::unique_ptr<eliza_exact_cache, eliza_exact_deleter>;

// The last `recent` positions up to a query's own and the first `sinks` of a sequence are read as f16.
struct eliza_exact_window {
    uint32_t recent = 0;
    uint32_t sinks = 0;

    explicit operator bool() const { return recent > 0 || sinks > 0; }
    bool operator==(const eliza_exact_window &) const = default;
    // Whether a query at that position reads the key exactly, or later keys of its own batch.
    bool holds(int32_t query, int32_t key) const {
        return key > query - static_cast<int64_t>(recent) || key < static_cast<int64_t>(sinks);
    }
};

// Whether caches of this model can have exact rows.
bool eliza_exact_serves(const llama_model &model);

// Rows of one stream, given how many sequences share it and its cells: the window and a few to spare.
uint32_t eliza_exact_rows_for(eliza_exact_window window, uint32_t sequences, uint32_t cells);

// Three sources of FLASH_ATTN_EXT beside the coded K, V and mask; all NULL without a window. K and V f16
// [head_dim, rows, kv heads, streams], mask f16 [rows, tokens of a stream, 1, streams]: what the coded mask had for
// the pair, -inf for pairs that are read as coded. The coded mask has -inf for the others.
struct eliza_exact_sources {
    ggml_tensor *k = nullptr;
    ggml_tensor *v = nullptr;
    ggml_tensor *mask = nullptr;
};

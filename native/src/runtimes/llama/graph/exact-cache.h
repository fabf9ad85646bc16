// The exact window of one llama_kv_cache: beside its coded K and V, f16 rows of the latest and the first tokens.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "exact-rows.h"
#include "exact-window.h"
#include "ggml.h"

class llama_io_read_i;
class llama_io_write_i;
class llama_kv_cache;
struct llama_memory_i;
struct llama_model;
struct llama_ubatch;

class eliza_exact_cache {
  public:
    // Set in the count of streams that a state begins with, where rows follow each stream's cells.
    static constexpr uint32_t STATE_FLAG = 1u << 31;

    // Cells of one stream and where its tokens lie, as llama_kv_cache::slot_info has them.
    using streams = std::vector<llama_seq_id>;
    using indices = std::vector<std::vector<uint32_t>>;

    // A row that the graph of the current ubatch reads.
    struct readable_row {
        uint32_t row;
        uint32_t cell;
        llama_pos position;
    };

    // f16 [n_embd_k_gqa, rows, n_stream] and [n_embd_v_gqa, rows, n_stream].
    struct sides {
        ggml_tensor *k = nullptr;
        ggml_tensor *v = nullptr;
    };

    // Gives rows to every cache of that memory, where K or V is coded and attention is one operation. Throws
    // std::runtime_error if they cannot be allocated.
    static void attach(llama_memory_i *memory, const llama_model &model, eliza_exact_window window);

    eliza_exact_cache(llama_kv_cache &cache, eliza_exact_window window);

    const eliza_exact_window &window() const { return window_; }
    uint32_t rows() const { return rows_; }
    uint64_t bytes() const;
    const sides &layer(int32_t il) const;

    // Whether that many tokens of a stream go to rows before attention reads them. Of more, the batch's own rows are
    // read beside the stream's, and only those that stay are written, afterwards.
    bool direct(uint32_t tokens) const { return tokens <= direct_; }

    // llama.cpp has given cells to a ubatch.
    void forget(const streams &streams, const indices &cells);
    void place(const streams &streams, const indices &cells, const llama_ubatch &ubatch);
    const std::vector<readable_row> &readable_rows(uint32_t stream) const { return books_[stream].readable; }
    // Of the tokens of the stream in the current ubatch.
    const std::vector<eliza_exact_rows::placed> &placed_rows(uint32_t stream) const { return books_[stream].placed; }

    void clear();
    void copy_book(uint32_t from, uint32_t to);
    void copy_rows(uint32_t from, uint32_t to);

    // `ranges`: the cells that the state holds, in order. `cells`: where they lie now.
    void write(llama_io_write_i &io, uint32_t stream, const std::vector<std::pair<uint32_t, uint32_t>> &ranges) const;
    // Takes what there is room for; a cache without a window (NULL) skips the rows. False if they are not what a
    // state of this model holds.
    static bool read(eliza_exact_cache *exact, llama_io_read_i &io, uint32_t stream, const std::vector<uint32_t> &cells,
                     llama_seq_id sequence, size_t layers);

  private:
    struct book {
        eliza_exact_rows rows;
        std::vector<readable_row> readable;
        std::vector<eliza_exact_rows::placed> placed;
    };

    void list_readable(uint32_t stream);

    llama_kv_cache &cache_;
    const eliza_exact_window window_;
    const uint32_t rows_;
    const uint32_t direct_;
    std::vector<book> books_; // by stream
    std::vector<sides> layers_;
    std::vector<std::vector<sides>> stream_views_; // by layer, stream
};

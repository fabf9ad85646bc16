// Which token's exact row lies where: the book-keeping of one stream's ring in the exact window.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "exact-window.h"
#include "llama-kv-cells.h"

// A row belongs to a cell of llama.cpp's cache as it was when the row was written. Removing, moving or overwriting the
// cell takes the row's meaning away and nothing else: its token is then read as coded.
class eliza_exact_rows {
  public:
    static constexpr uint32_t NONE = UINT32_MAX;

    struct row {
        uint32_t cell = NONE;
        llama_pos position = -1;
        llama_seq_id sequence = -1; // one that the cell had
    };

    struct placed {
        uint32_t token; // index in the list given to place()
        uint32_t row;
    };

    eliza_exact_rows(uint32_t rows, uint32_t cells, eliza_exact_window window)
        : window_(window), rows_(rows), row_of_(cells, NONE) {}

    uint32_t size() const { return static_cast<uint32_t>(rows_.size()); }

    // The row's token, or NONE if its cell is no longer what it was.
    uint32_t cell_of(uint32_t row, const llama_kv_cells &cells) const;
    const row &at(uint32_t row) const { return rows_[row]; }

    // The cell gets another token.
    void forget(uint32_t cell);
    void clear();

    // Finds rows for tokens that lie in `cells` by now, giving up those that are needed least. Tokens that are needed
    // less than any row go without, but `at_least` of them get one. With `reads_after` the tokens' own queries read the
    // rows afterwards, so each sequence wants the window of the first of these queries, not of the last.
    std::vector<placed> place(const std::vector<row> &tokens, const llama_kv_cells &cells, size_t at_least,
                              bool reads_after = false);

  private:
    // How far a token is behind its sequence's end, over the sequences that have it; -1 for a sink. `first` has the
    // positions that stand for the ends of some sequences.
    int64_t age(const row &token, const llama_kv_cells &cells, const std::map<llama_seq_id, llama_pos> &first) const;
    void assign(uint32_t row, const struct row &token);

    eliza_exact_window window_;
    std::vector<row> rows_;
    std::vector<uint32_t> row_of_; // by cell
};

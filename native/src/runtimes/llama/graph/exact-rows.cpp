#include "exact-rows.h"

#include <algorithm>
#include <numeric>

uint32_t eliza_exact_rows::cell_of(uint32_t row, const llama_kv_cells &cells) const {
    const auto &[cell, position, sequence] = rows_[row];
    if (cell == NONE || cells.is_empty(cell) || cells.pos_get(cell) != position) return NONE;
    return cell;
}

void eliza_exact_rows::forget(uint32_t cell) {
    uint32_t &row = row_of_[cell];
    if (row != NONE) rows_[row] = {};
    row = NONE;
}

void eliza_exact_rows::clear() {
    std::ranges::fill(rows_, row{});
    std::ranges::fill(row_of_, NONE);
}

int64_t eliza_exact_rows::age(const row &token, const llama_kv_cells &cells,
                              const std::map<llama_seq_id, llama_pos> &first) const {
    if (token.position < static_cast<int64_t>(window_.sinks)) return -1;
    const auto behind = [&](llama_seq_id sequence) {
        const auto known = first.find(sequence);
        return int64_t(known != first.end() ? known->second : cells.seq_pos_max(sequence)) - token.position;
    };
    if (cells.seq_count(token.cell) == 1 && cells.seq_has(token.cell, token.sequence)) return behind(token.sequence);
    int64_t least = INT64_MAX;
    for (llama_seq_id sequence = 0; sequence < LLAMA_MAX_SEQ; ++sequence) {
        if (cells.seq_has(token.cell, sequence)) least = std::min(least, behind(sequence));
    }
    return least;
}

void eliza_exact_rows::assign(uint32_t row, const struct row &token) {
    if (rows_[row].cell != NONE) row_of_[rows_[row].cell] = NONE;
    forget(token.cell);
    rows_[row] = token;
    row_of_[token.cell] = row;
}

std::vector<eliza_exact_rows::placed> eliza_exact_rows::place(const std::vector<row> &tokens,
                                                              const llama_kv_cells &cells, size_t at_least,
                                                              bool reads_after) {
    std::map<llama_seq_id, llama_pos> first;
    for (const row &token : tokens) {
        if (!reads_after) break;
        const auto [known, added] = first.emplace(token.sequence, token.position);
        if (!added) known->second = std::min(known->second, token.position);
    }
    // Rows and tokens, each with its age: the free rows first, then the oldest; the youngest tokens first.
    std::vector<std::pair<int64_t, uint32_t>> places;
    for (uint32_t row = 0; row < size(); ++row) {
        const bool used = cell_of(row, cells) != NONE;
        places.emplace_back(used ? age(rows_[row], cells, first) : INT64_MAX, row);
    }
    std::vector<std::pair<int64_t, uint32_t>> wanting;
    for (uint32_t token = 0; token < tokens.size(); ++token)
        wanting.emplace_back(age(tokens[token], cells, first), token);
    std::ranges::stable_sort(places, std::greater<>(), [](const auto &place) { return place.first; });
    std::ranges::stable_sort(wanting, std::less<>(), [](const auto &want) { return want.first; });

    std::vector<placed> result;
    for (size_t i = 0; i < std::min(places.size(), wanting.size()); ++i) {
        const auto &[row_age, row] = places[i];
        const auto &[token_age, token] = wanting[i];
        if (row_age <= token_age && result.size() >= at_least) break;
        assign(row, tokens[token]);
        result.push_back({token, row});
    }
    return result;
}

#include "exact-rows.h"

#include <map>
#include <random>

#include "check.h"

namespace {

constexpr uint32_t CELLS = 64;

// A stream of cells and its rows, and beside them what every cell and row was last written with.
struct Stream {
    eliza_exact_window window;
    llama_kv_cells cells;
    eliza_exact_rows rows;
    std::map<uint32_t, int> in_cell, in_row;
    int written = 0;

    Stream(eliza_exact_window w, uint32_t sequences)
        : window(w), rows(eliza_exact_rows_for(w, sequences, CELLS), CELLS, w) {
        cells.resize(CELLS);
    }

    // Tokens of one sequence at the next positions, into the first free cells; as many as there are.
    void write(llama_seq_id sequence, uint32_t count, bool all) {
        std::vector<eliza_exact_rows::row> tokens;
        llama_pos position = cells.seq_pos_max(sequence) + 1;
        for (uint32_t cell = 0; cell < CELLS && tokens.size() < count; ++cell) {
            if (!cells.is_empty(cell)) continue;
            rows.forget(cell);
            cells.pos_set(cell, position);
            cells.seq_add(cell, sequence);
            tokens.push_back({cell, position++, sequence});
            in_cell[cell] = ++written;
        }
        for (const auto &[token, row] : rows.place(tokens, cells, all ? tokens.size() : 1, all)) {
            in_row[row] = in_cell[tokens[token].cell];
        }
    }

    bool holds(uint32_t cell) const {
        for (uint32_t row = 0; row < rows.size(); ++row) {
            if (rows.cell_of(row, cells) == cell) return true;
        }
        return false;
    }

    void check_rows() const {
        for (uint32_t row = 0; row < rows.size(); ++row) {
            const uint32_t cell = rows.cell_of(row, cells);
            if (cell != eliza_exact_rows::NONE) EXPECT(in_row.at(row) == in_cell.at(cell));
        }
    }
};

} // namespace

TEST("a row is used for the token that it was written with, whatever happens to cells") {
    const unsigned seed = std::random_device{}();
    std::printf("# seed %u\n", seed);
    std::mt19937 random(seed);
    const auto below = [&](uint32_t limit) { return static_cast<uint32_t>(random() % limit); };
    for (int round = 0; round < 200; ++round) {
        Stream stream({below(12), below(4)}, 3);
        for (int step = 0; step < 100; ++step) {
            const auto sequence = static_cast<llama_seq_id>(below(3));
            const uint32_t cell = below(CELLS);
            const bool used = !stream.cells.is_empty(cell);
            switch (below(6)) {
            case 0:
                if (used) stream.cells.rm(cell);
                break;
            case 1:
                if (used && stream.cells.seq_count(cell) == 1)
                    stream.cells.pos_add(cell, static_cast<llama_pos>(below(9)) - 4);
                break;
            case 2:
                if (used && !stream.cells.seq_has(cell, sequence)) stream.cells.seq_add(cell, sequence);
                break;
            case 3:
                if (used) stream.cells.seq_keep(cell, sequence);
                break;
            default:
                stream.write(sequence, 1 + below(9), below(2) == 0);
            }
            stream.check_rows();
        }
    }
}

TEST("the latest tokens and the first ones of every sequence have rows") {
    const eliza_exact_window window{6, 2};
    Stream stream(window, 2);
    for (int turn = 0; turn < 14; ++turn) {
        stream.write(turn % 2, 1 + static_cast<uint32_t>(turn % 4), false);
        for (uint32_t cell = 0; cell < CELLS; ++cell) {
            if (stream.cells.is_empty(cell)) continue;
            const llama_seq_id sequence = stream.cells.seq_get(cell);
            if (window.holds(stream.cells.seq_pos_max(sequence), stream.cells.pos_get(cell)))
                EXPECT(stream.holds(cell));
        }
    }
}

TEST("a batch that is written before it is read leaves the window of its first query, whatever sequences share the "
     "rows") {
    const eliza_exact_window window{6, 2};
    Stream stream(window, 4);
    for (llama_seq_id sequence = 0; sequence < 4; ++sequence) stream.write(sequence, 9, true);
    const llama_pos first = stream.cells.seq_pos_max(3) + 1;
    stream.write(3, 15, true); // more than there are rows for besides
    for (uint32_t cell = 0; cell < CELLS; ++cell) {
        if (stream.cells.is_empty(cell)) continue;
        const llama_seq_id sequence = stream.cells.seq_get(cell);
        const llama_pos query = sequence == 3 ? first : stream.cells.seq_pos_max(sequence);
        const llama_pos key = stream.cells.pos_get(cell);
        if (window.holds(query, key) || (sequence == 3 && key >= first)) EXPECT(stream.holds(cell));
    }
}

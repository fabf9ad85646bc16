#include "exact-cache.h"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "ggml-backend.h"
#include "ggml-cpp.h"
#include "llama-io.h"
#include "llama-kv-cache-iswa.h"
#include "llama-memory-hybrid-iswa.h"
#include "llama-memory-hybrid.h"
#include "llama-model.h"

namespace {

// Rows beside the window: a few tokens at once, or a few taken back, cost no exact row.
constexpr uint32_t SPARE_ROWS = 8;
constexpr uint32_t ROWS_PADDING = 16;

// More than any head's row; a forged state must not make the process take memory.
constexpr uint64_t MOST_ROW_BYTES = 1 << 22;

std::vector<llama_kv_cache *> caches_of(const llama_memory_i *memory) {
    if (const auto *split = dynamic_cast<const llama_kv_cache_iswa *>(memory)) {
        return {split->get_base(), split->get_swa()};
    }
    if (const auto *plain = dynamic_cast<const llama_kv_cache *>(memory)) return {const_cast<llama_kv_cache *>(plain)};
    if (const auto *hybrid = dynamic_cast<const llama_memory_hybrid *>(memory)) return {hybrid->get_mem_attn()};
    if (const auto *hybrid = dynamic_cast<const llama_memory_hybrid_iswa *>(memory)) {
        return caches_of(hybrid->get_mem_attn());
    }
    return {};
}

uint32_t sequences_sharing(uint32_t streams, uint32_t sequences) { return streams == 1 ? sequences : 1; }

uint64_t needed_rows(eliza_exact_window window, uint32_t sequences) {
    return uint64_t(sequences) * (uint64_t(window.recent) + window.sinks);
}

} // namespace

void eliza_exact_deleter::operator()(eliza_exact_cache *exact) const { delete exact; }

bool eliza_exact_serves(const llama_model &model) {
    // Where K is V's row too there is no row of V; T5 adds a bias of its own to the scores; DFlash stores keys that no
    // attention of the same graph reads.
    return !model.hparams.is_mla() && model.arch != LLM_ARCH_T5 && model.arch != LLM_ARCH_DFLASH;
}

void eliza_exact_cache::attach(llama_memory_i *memory, const llama_model &model, eliza_exact_window window) {
    if (!window || !eliza_exact_serves(model)) return;
    for (llama_kv_cache *cache : caches_of(memory)) {
        const auto coded = [](const ggml_tensor *side) { return side != nullptr && ggml_is_quantized(side->type); };
        if (cache->other != nullptr || cache->v_trans) continue; // another's cells, or attention in several operations
        const auto &layers = cache->layers;
        if (std::ranges::none_of(layers, [&](const auto &layer) { return coded(layer.k) || coded(layer.v); })) continue;
        cache->exact.reset(new eliza_exact_cache(*cache, window));
    }
}

uint32_t eliza_exact_rows_for(eliza_exact_window window, uint32_t sequences, uint32_t cells) {
    const uint64_t wanted = needed_rows(window, sequences) + SPARE_ROWS;
    return static_cast<uint32_t>(std::min<uint64_t>((wanted + ROWS_PADDING - 1) / ROWS_PADDING * ROWS_PADDING, cells));
}

eliza_exact_cache::eliza_exact_cache(llama_kv_cache &cache, eliza_exact_window window)
    : cache_(cache), window_(window),
      rows_(eliza_exact_rows_for(window, sequences_sharing(cache.n_stream, cache.n_seq_max), cache.get_size())),
      // With a row for every cell no row is ever given up. Otherwise the oldest query of a batch still wants its own
      // window, which ends at itself.
      direct_(rows_ == cache.get_size()
                  ? UINT32_MAX
                  : static_cast<uint32_t>(rows_ -
                                          needed_rows(window, sequences_sharing(cache.n_stream, cache.n_seq_max)) + 1)),
      books_(cache.n_stream, {eliza_exact_rows(rows_, cache.get_size(), window), {}, {}}) {
    std::map<ggml_backend_buffer_type_t, ggml_context_ptr> contexts;
    const auto context_of = [&](ggml_backend_buffer_type_t type) {
        ggml_context_ptr &context = contexts[type];
        const size_t tensors = 2 * (1 + cache.n_stream) * cache.layers.size();
        if (context == nullptr) context.reset(ggml_init({tensors * ggml_tensor_overhead(), nullptr, true}));
        return context.get();
    };
    for (const auto &layer : cache.layers) {
        ggml_context *context = context_of(ggml_backend_buffer_get_type(layer.k->buffer));
        const auto make = [&](const ggml_tensor *coded, const char *side) {
            ggml_tensor *tensor = ggml_new_tensor_3d(context, GGML_TYPE_F16, coded->ne[0], rows_, cache.n_stream);
            return ggml_format_name(tensor, "cache_exact_%s_l%u", side, layer.il);
        };
        const sides &both = layers_.emplace_back(sides{make(layer.k, "k"), make(layer.v, "v")});
        auto &views = stream_views_.emplace_back();
        for (uint32_t stream = 0; stream < cache.n_stream; ++stream) {
            const auto view = [&](ggml_tensor *all) {
                return ggml_view_2d(context, all, all->ne[0], rows_, all->nb[1], stream * all->nb[2]);
            };
            views.push_back({view(both.k), view(both.v)});
        }
    }
    for (auto &[type, context] : contexts) {
        ggml_backend_buffer_ptr buffer;
        if (cache.hparams.no_alloc) {
            buffer.reset(ggml_backend_buft_alloc_buffer(type, 0));
            for (ggml_tensor *t = ggml_get_first_tensor(context.get()); t != nullptr;
                 t = ggml_get_next_tensor(context.get(), t)) {
                t->buffer = buffer.get();
            }
        } else {
            buffer.reset(ggml_backend_alloc_ctx_tensors_from_buft(context.get(), type));
        }
        if (buffer == nullptr) throw std::runtime_error("no memory for the exact window");
        ggml_backend_buffer_clear(buffer.get(), 0);
        // Kept by the cache with its own, which its size and its clearing go by.
        cache.ctxs_bufs.emplace_back(std::move(context), std::move(buffer));
    }
}

uint64_t eliza_exact_cache::bytes() const {
    uint64_t sum = 0;
    for (const sides &layer : layers_) sum += ggml_nbytes(layer.k) + ggml_nbytes(layer.v);
    return sum;
}

const eliza_exact_cache::sides &eliza_exact_cache::layer(int32_t il) const {
    return layers_[static_cast<size_t>(cache_.map_layer_ids.at(il))];
}

void eliza_exact_cache::forget(const streams &streams, const indices &cells) {
    for (size_t s = 0; s < streams.size(); ++s) {
        for (const uint32_t cell : cells[s]) books_[static_cast<size_t>(streams[s])].rows.forget(cell);
    }
}

void eliza_exact_cache::list_readable(uint32_t stream) {
    auto &[rows, readable, placed] = books_[stream];
    readable.clear();
    for (uint32_t row = 0; row < rows.size(); ++row) {
        const uint32_t cell = rows.cell_of(row, cache_.v_cells[stream]);
        if (cell != eliza_exact_rows::NONE) readable.push_back({row, cell, rows.at(row).position});
    }
}

void eliza_exact_cache::place(const streams &streams, const indices &cells, const llama_ubatch &ubatch) {
    for (size_t s = 0; s < streams.size(); ++s) {
        const auto stream = static_cast<uint32_t>(streams[s]);
        const size_t count = cells[s].size();
        std::vector<eliza_exact_rows::row> tokens;
        for (size_t i = 0; i < count; ++i) {
            const size_t token = s * count + i;
            tokens.push_back({cells[s][i], ubatch.pos[token], ubatch.seq_id[token][0]});
        }
        const bool written_first = direct(static_cast<uint32_t>(count));
        if (!written_first) list_readable(stream);
        books_[stream].placed =
            books_[stream].rows.place(tokens, cache_.v_cells[stream], written_first ? count : 1, written_first);
        if (written_first) list_readable(stream);
    }
}

void eliza_exact_cache::clear() {
    for (book &book : books_) book.rows.clear();
}

void eliza_exact_cache::copy_book(uint32_t from, uint32_t to) { books_[to].rows = books_[from].rows; }

void eliza_exact_cache::copy_rows(uint32_t from, uint32_t to) {
    for (const auto &streams : stream_views_) {
        ggml_backend_tensor_copy(streams[from].k, streams[to].k);
        ggml_backend_tensor_copy(streams[from].v, streams[to].v);
    }
}

void eliza_exact_cache::write(llama_io_write_i &io, uint32_t stream,
                              const std::vector<std::pair<uint32_t, uint32_t>> &ranges) const {
    const eliza_exact_rows &rows = books_[stream].rows;
    std::map<uint32_t, uint32_t> row_of; // by the cell's place among those in the state
    for (uint32_t row = 0; row < rows.size(); ++row) {
        const uint32_t cell = rows.cell_of(row, cache_.v_cells[stream]);
        uint32_t before = 0;
        for (const auto &[from, to] : ranges) {
            if (cell >= from && cell < to) row_of[before + cell - from] = row;
            before += to - from;
        }
    }
    const auto count = static_cast<uint32_t>(row_of.size());
    io.write(&count, sizeof(count));
    for (const auto &[ordinal, row] : row_of) io.write(&ordinal, sizeof(ordinal));
    for (const auto &layer : stream_views_) {
        for (ggml_tensor *side : {layer[stream].k, layer[stream].v}) {
            const uint64_t row_bytes = side->nb[1];
            io.write(&row_bytes, sizeof(row_bytes));
            for (const auto &[ordinal, row] : row_of) io.write_tensor(side, row * row_bytes, row_bytes);
        }
    }
}

bool eliza_exact_cache::read(eliza_exact_cache *exact, llama_io_read_i &io, uint32_t stream,
                             const std::vector<uint32_t> &cells, llama_seq_id sequence, size_t layers) {
    uint32_t count = 0;
    io.read(&count, sizeof(count));
    if (count > cells.size()) return false;
    std::vector<uint32_t> ordinals(count);
    if (count > 0) io.read(ordinals.data(), count * sizeof(uint32_t));
    for (uint32_t i = 0; i < count; ++i) {
        if (ordinals[i] >= cells.size() || (i > 0 && ordinals[i] <= ordinals[i - 1])) return false;
    }
    std::vector<uint32_t> row_of(count, eliza_exact_rows::NONE);
    if (exact != nullptr) {
        const llama_kv_cells &now = exact->cache_.v_cells[stream];
        std::vector<eliza_exact_rows::row> tokens;
        for (const uint32_t ordinal : ordinals) {
            tokens.push_back({cells[ordinal], now.pos_get(cells[ordinal]), sequence});
        }
        for (const auto &[token, row] : exact->books_[stream].rows.place(tokens, now, 0)) row_of[token] = row;
    }
    std::vector<uint8_t> skipped;
    for (size_t layer = 0; layer < layers; ++layer) {
        for (const bool keys : {true, false}) {
            uint64_t row_bytes = 0;
            io.read(&row_bytes, sizeof(row_bytes));
            const sides *both = exact != nullptr ? &exact->stream_views_[layer][stream] : nullptr;
            ggml_tensor *side = both == nullptr ? nullptr : keys ? both->k : both->v;
            if (row_bytes > MOST_ROW_BYTES || (side != nullptr && row_bytes != side->nb[1])) return false;
            skipped.resize(row_bytes);
            for (const uint32_t row : row_of) {
                if (row != eliza_exact_rows::NONE) {
                    io.read_tensor(side, row * row_bytes, row_bytes);
                } else {
                    io.read(skipped.data(), row_bytes);
                }
            }
        }
    }
    return true;
}

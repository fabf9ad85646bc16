#include "exact-graph.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "exact-cache.h"
#include "ggml.h"
#include "llama-graph.h"
#include "llama-kv-cache-iswa.h"
#include "llama-kv-cache.h"
#include "llama-memory-hybrid-iswa.h"
#include "llama-memory-hybrid.h"

namespace {

const llama_kv_cache_context *cache_in(const llama_memory_context_i *memory, bool sliding_window) {
    if (const auto *hybrid = dynamic_cast<const llama_memory_hybrid_context *>(memory)) return hybrid->get_attn();
    if (const auto *hybrid = dynamic_cast<const llama_memory_hybrid_iswa_context *>(memory))
        memory = hybrid->get_attn();
    if (const auto *split = dynamic_cast<const llama_kv_cache_iswa_context *>(memory)) {
        return sliding_window ? split->get_swa() : split->get_base();
    }
    return dynamic_cast<const llama_kv_cache_context *>(memory);
}

} // namespace

class eliza_exact_input final : public llm_graph_input_i {
  public:
    explicit eliza_exact_input(const eliza_exact_build &build)
        : cache_(build.cache), coded_mask_(build.coded_mask), sliding_window_(build.sliding_window),
          streams_(build.coded_mask->ne[3]), tokens_(build.coded_mask->ne[1]), rows_(exact().rows()),
          direct_(exact().direct(static_cast<uint32_t>(tokens_))),
          kept_(direct_ ? tokens_ : std::min<int64_t>(tokens_, rows_)) {
        ggml_context *context = build.context;
        const int64_t readable = direct_ ? rows_ : rows_ + tokens_;
        mask = named(ggml_new_tensor_4d(context, GGML_TYPE_F16, readable, tokens_, 1, streams_), "exact_mask");
        to_ = named(ggml_new_tensor_1d(context, GGML_TYPE_I64, kept_ * streams_), "exact_to");
        if (!direct_) from_ = named(ggml_new_tensor_1d(context, GGML_TYPE_I32, kept_ * streams_), "exact_from");
    }

    eliza_exact_sources store(const eliza_exact_build &build, ggml_tensor *k, ggml_tensor *v, int32_t layer) {
        const eliza_exact_cache::sides &ring = exact().layer(layer);
        eliza_exact_cache::sides &read = read_[ring.k];
        if (k != nullptr) read.k = store_side(build, ring.k, k);
        if (v != nullptr) read.v = store_side(build, ring.v, v);
        GGML_ASSERT(read.k != nullptr && read.v != nullptr && "a layer shares keys that were not computed");
        return {heads_of(build, read.k, build.head_dim_k), heads_of(build, read.v, build.head_dim_v), mask};
    }

    void set_input(const llama_ubatch *ubatch) override {
        // Left out of a graph that stores without attending.
        if (mask->buffer == nullptr) return;
        if (to_->buffer != nullptr) set_rows();
        set_masks(ubatch);
    }

    bool can_reuse(const llm_graph_params &params) override {
        cache_ = cache_in(params.mctx, sliding_window_);
        // The shape follows from the batch's, which the attention's own input has compared.
        return cache_ != nullptr && cache_->get_kv()->exact != nullptr;
    }

    ggml_tensor *mask;

  private:
    static ggml_tensor *named(ggml_tensor *tensor, const char *name) {
        ggml_set_input(tensor);
        return ggml_set_name(tensor, name);
    }

    const eliza_exact_cache &exact() const { return *cache_->get_kv()->exact; }

    // The rows that attention reads, [n_embd_gqa, rows, streams].
    ggml_tensor *store_side(const eliza_exact_build &build, ggml_tensor *ring, ggml_tensor *current) const {
        ggml_context *context = build.context;
        const int64_t width = current->ne[0] * current->ne[1];
        GGML_ASSERT(ggml_row_size(current->type, current->ne[0]) == current->nb[1]);
        GGML_ASSERT(width == ring->ne[0] && current->ne[2] == tokens_ * streams_);
        ggml_tensor *flat = ggml_view_2d(context, current, width, tokens_ * streams_, current->nb[2], 0);
        ggml_tensor *all = ggml_reshape_2d(context, ring, width, ring->ne[1] * ring->ne[2]);
        ggml_tensor *own = ggml_view_3d(context, ring, width, rows_, streams_, ring->nb[1], ring->nb[2],
                                        cache_->get_slot().s0 * ring->nb[2]);
        if (direct_) {
            ggml_build_forward_expand(build.graph, ggml_set_rows(context, all, flat, to_));
            return own;
        }
        ggml_tensor *batch = ggml_view_3d(context, current, width, tokens_, streams_, current->nb[2],
                                          current->nb[2] * static_cast<size_t>(tokens_), 0);
        ggml_tensor *both = ggml_concat(context, own, ggml_cast(context, batch, GGML_TYPE_F16), 1);
        // What the batch overwrites is read first: nodes run in the order in which they are added.
        ggml_build_forward_expand(build.graph, both);
        ggml_tensor *kept = ggml_get_rows(context, flat, from_);
        ggml_build_forward_expand(build.graph, ggml_set_rows(context, all, kept, to_));
        return both;
    }

    ggml_tensor *heads_of(const eliza_exact_build &build, ggml_tensor *rows, int64_t head_dim) const {
        ggml_tensor *heads = ggml_view_4d(build.context, rows, head_dim, rows->ne[0] / head_dim, rows->ne[1], streams_,
                                          ggml_row_size(rows->type, head_dim), rows->nb[1], rows->nb[2], 0);
        return ggml_permute(build.context, heads, 0, 2, 1, 3);
    }

    uint32_t stream_at(int64_t s) const {
        return static_cast<uint32_t>(cache_->get_slot().strm[static_cast<size_t>(s)]);
    }

    void set_rows() const {
        auto *to = static_cast<int64_t *>(to_->data);
        auto *from = from_ != nullptr ? static_cast<int32_t *>(from_->data) : nullptr;
        for (int64_t s = 0; s < streams_; ++s) {
            const uint32_t stream = stream_at(s);
            const auto &placed = exact().placed_rows(stream);
            for (int64_t i = 0; i < kept_; ++i) {
                // A batch of which less is kept writes its first such row again.
                const auto &[token, row] = placed[i < static_cast<int64_t>(placed.size()) ? i : 0];
                const int64_t at = s * kept_ + (from == nullptr ? token : i);
                to[at] = int64_t(stream) * rows_ + row;
                if (from != nullptr) from[at] = static_cast<int32_t>(s * tokens_ + token);
            }
        }
    }

    void set_masks(const llama_ubatch *ubatch) const {
        const ggml_fp16_t hidden = ggml_fp32_to_fp16(-INFINITY);
        const int64_t cells = coded_mask_->ne[0];
        const int64_t readable = mask->ne[0];
        auto *exact_mask = static_cast<ggml_fp16_t *>(mask->data);
        std::fill_n(exact_mask, ggml_nelements(mask), hidden);
        const eliza_exact_window &window = exact().window();
        for (int64_t s = 0; s < streams_; ++s) {
            const auto &rows = exact().readable_rows(stream_at(s));
            const auto &batch = cache_->get_slot().idxs[static_cast<size_t>(s)];
            for (int64_t i = s * tokens_; i < (s + 1) * tokens_; ++i) {
                const llama_pos position = ubatch->pos[i];
                ggml_fp16_t *coded_row = static_cast<ggml_fp16_t *>(coded_mask_->data) + i * cells;
                ggml_fp16_t *exact_row = exact_mask + i * readable;
                const auto move = [&](int64_t row, uint32_t cell, llama_pos key) {
                    if (!window.holds(position, key) || coded_row[cell] == hidden) return;
                    exact_row[row] = coded_row[cell];
                    coded_row[cell] = hidden;
                };
                for (const auto &[row, cell, key] : rows) move(row, cell, key);
                if (direct_) continue;
                for (int64_t j = 0; j < tokens_; ++j) {
                    move(rows_ + j, batch[static_cast<size_t>(j)], ubatch->pos[s * tokens_ + j]);
                }
            }
        }
    }

    const llama_kv_cache_context *cache_;
    ggml_tensor *const coded_mask_;
    const bool sliding_window_;
    const int64_t streams_;
    const int64_t tokens_; // of a stream
    const uint32_t rows_;
    const bool direct_;
    const int64_t kept_;          // tokens of a stream that get a row at most
    ggml_tensor *to_ = nullptr;   // I64 [kept * streams], rows over all streams
    ggml_tensor *from_ = nullptr; // I32 [kept * streams], tokens of the batch; NULL where each gets a row
    std::map<const ggml_tensor *, eliza_exact_cache::sides> read_; // by a layer's ring
};

eliza_exact_sources eliza_exact_store(const eliza_exact_build &build, eliza_exact_input *&input, ggml_tensor *k,
                                      ggml_tensor *v, int32_t layer) {
    // Without the fused operation the mask is another one; then every key is read as coded.
    if (build.cache->get_kv()->exact == nullptr || build.coded_mask->type != GGML_TYPE_F16) return {};
    if (input == nullptr) {
        input = static_cast<eliza_exact_input *>(build.result->add_input(std::make_unique<eliza_exact_input>(build)));
    }
    return input->store(build, k, v, layer);
}

void eliza_exact_add_sources(ggml_tensor *attention, const eliza_exact_sources &sources) {
    attention->src[5] = sources.k;
    attention->src[6] = sources.v;
    attention->src[7] = sources.mask;
}

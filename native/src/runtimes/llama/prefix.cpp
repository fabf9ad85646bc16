#include "runtimes/llama/prefix.h"

#include <algorithm>

#include "llama-hparams.h"
#include "llama-kv-cache-iswa.h"
#include "llama-kv-cache.h"
#include "llama-memory-hybrid-iswa.h"
#include "llama-memory-hybrid.h"

namespace eliza {

namespace {

// The first position that a token at position n sees in a layer with a window.
llama_pos window_start(const llama_hparams &hparams, llama_pos n) {
    const auto window = static_cast<llama_pos>(hparams.n_swa);
    switch (hparams.swa_type) {
    case LLAMA_SWA_TYPE_NONE:
        return 0;
    case LLAMA_SWA_TYPE_STANDARD:
        return std::max<llama_pos>(0, n - window + 1);
    case LLAMA_SWA_TYPE_CHUNKED:
        return window > 0 ? n / window * window : 0;
    case LLAMA_SWA_TYPE_SYMMETRIC:
        return std::max<llama_pos>(0, n - window / 2);
    }
    return 0;
}

// llama.cpp keeps a sequence's rows without gaps, so its ends say all.
bool holds_rows(const llama_memory_i &cache, llama_seq_id id, llama_pos first, llama_pos n) {
    if (first >= n) return true;
    const llama_pos lowest = cache.seq_pos_min(id);
    return lowest >= 0 && lowest <= first && cache.seq_pos_max(id) >= n - 1;
}

bool holds_both(const llama_kv_cache_iswa &cache, const llama_hparams &hparams, llama_seq_id id, llama_pos n) {
    return holds_rows(*cache.get_base(), id, 0, n) && holds_rows(*cache.get_swa(), id, window_start(hparams, n), n);
}

} // namespace

bool holds_prefix(llama_memory_t memory, const llama_hparams &hparams, llama_seq_id id, llama_pos n) {
    if (n == 0) return true;
    const auto state_is_there = [&](const llama_memory_i &state) { return state.seq_pos_max(id) == n - 1; };
    if (const auto *split = dynamic_cast<const llama_kv_cache_iswa *>(memory)) {
        return holds_both(*split, hparams, id, n);
    }
    if (const auto *rows = dynamic_cast<const llama_kv_cache *>(memory)) return holds_rows(*rows, id, 0, n);
    if (const auto *hybrid = dynamic_cast<const llama_memory_hybrid *>(memory)) {
        return state_is_there(*hybrid->get_mem_recr()) && holds_rows(*hybrid->get_mem_attn(), id, 0, n);
    }
    if (const auto *hybrid = dynamic_cast<const llama_memory_hybrid_iswa *>(memory)) {
        return state_is_there(*hybrid->get_mem_recr()) && holds_both(*hybrid->get_mem_attn(), hparams, id, n);
    }
    // A recurrent state, or a memory of a kind that nobody looked into: only as it stands.
    return llama_memory_seq_pos_max(memory, id) == n - 1;
}

bool is_rows_alone(llama_memory_t memory) {
    return dynamic_cast<const llama_kv_cache_iswa *>(memory) != nullptr ||
           dynamic_cast<const llama_kv_cache *>(memory) != nullptr;
}

} // namespace eliza

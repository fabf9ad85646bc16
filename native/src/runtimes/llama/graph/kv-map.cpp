#include "kv-map.h"

#include "ggml.h"

namespace {

// Every head of x [d, heads, n] by its kv head's matrix: consecutive heads share one. Contiguous.
ggml_tensor *multiply(ggml_context *ctx, ggml_tensor *matrices, ggml_tensor *x) {
    const int64_t d = x->ne[0];
    const int64_t heads = x->ne[1];
    const int64_t n = x->ne[2];
    // All tokens of a head in one product: a product per token would cost a barrier each.
    if (n == 1) {
        if (!ggml_is_contiguous(x)) x = ggml_cont(ctx, x);
        return ggml_reshape_3d(ctx, ggml_mul_mat(ctx, matrices, ggml_reshape_3d(ctx, x, d, 1, heads)), d, heads, 1);
    }
    ggml_tensor *product = ggml_mul_mat(ctx, matrices, ggml_permute(ctx, x, 0, 2, 1, 3));
    return ggml_cont(ctx, ggml_permute(ctx, product, 0, 2, 1, 3));
}

ggml_tensor *store(ggml_context *ctx, const eliza_kv_map_side &side, ggml_tensor *x) {
    if (!ggml_is_contiguous(x)) x = ggml_cont(ctx, x);
    return multiply(ctx, side.store, ggml_sub(ctx, x, side.mean));
}

} // namespace

const eliza_kv_map_layer *eliza_kv_map_at(const eliza_kv_map *map, int layer) {
    return map == nullptr ? nullptr : map->layers.at(static_cast<size_t>(layer));
}

eliza_kv_mapped eliza_kv_map_apply(ggml_context *ctx, const eliza_kv_map *map, int layer, ggml_tensor *&q,
                                   ggml_tensor *&k, ggml_tensor *&v) {
    const eliza_kv_map_layer *at = eliza_kv_map_at(map, layer);
    if (at == nullptr) return {};
    const eliza_kv_mapped mapped{at->k.store != nullptr, at->v.store != nullptr};
    if (mapped.k) {
        q = multiply(ctx, at->k.read, q);
        if (k != nullptr) k = store(ctx, at->k, k);
    }
    if (mapped.v && v != nullptr) v = store(ctx, at->v, v);
    return mapped;
}

ggml_tensor *eliza_kv_map_output(ggml_context *ctx, const eliza_kv_map *map, int layer, ggml_tensor *output) {
    const eliza_kv_map_side &side = eliza_kv_map_at(map, layer)->v;
    const int64_t d = side.read->ne[0];
    const int64_t heads = output->ne[0] / d;
    const int64_t kv_heads = side.mean->ne[1];
    const int64_t n = output->ne[1];
    if (!ggml_is_contiguous(output)) output = ggml_cont(ctx, output);
    ggml_tensor *restored = multiply(ctx, side.read, ggml_reshape_3d(ctx, output, d, heads, n));
    // A kv head's mean goes to each of its heads.
    restored = ggml_add(ctx, ggml_reshape_4d(ctx, restored, d, heads / kv_heads, kv_heads, n),
                        ggml_reshape_3d(ctx, side.mean, d, 1, kv_heads));
    return ggml_reshape_2d(ctx, restored, d * heads, n);
}

ggml_tensor *eliza_kv_map_unmap_keys(ggml_context *ctx, const eliza_kv_map_layer &layer, ggml_tensor *k) {
    ggml_tensor *inverse = ggml_cont(ctx, ggml_transpose(ctx, layer.k.read));
    return ggml_add(ctx, multiply(ctx, inverse, k), layer.k.mean);
}

ggml_tensor *eliza_kv_map_map_keys(ggml_context *ctx, const eliza_kv_map_layer &layer, ggml_tensor *k) {
    return store(ctx, layer.k, k);
}

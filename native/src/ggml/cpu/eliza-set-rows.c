#include "eliza-set-rows.h"

#include "eliza_kv.h"
#include "ggml-cpu-impl.h"
#include "ggml.h"

static int64_t index_at(const struct ggml_tensor *indices, int64_t i, int64_t row2, int64_t row3) {
    const char *at = (const char *)indices->data + (size_t)i * indices->nb[0] +
                     (size_t)(row2 % indices->ne[1]) * indices->nb[1] +
                     (size_t)(row3 % indices->ne[2]) * indices->nb[2];
    return indices->type == GGML_TYPE_I64 ? *(const int64_t *)at : *(const int32_t *)at;
}

bool eliza_set_rows_forward(const struct ggml_compute_params *params, struct ggml_tensor *node) {
    const struct ggml_tensor *rows = node->src[0];
    const eliza_kv_format *format = eliza_kv_format_by_type((int32_t)node->type);
    if (format == NULL || rows->type != GGML_TYPE_F32) return false;
    const int64_t tiles = rows->ne[0] / format->tile; // of a row
    const int64_t all = tiles * rows->ne[1] * rows->ne[2] * rows->ne[3];
    const int64_t end = all * (params->ith + 1) / params->nth;
    for (int64_t at = all * params->ith / params->nth; at < end;) {
        const int64_t tile = at % tiles;
        const int64_t i = at / tiles % rows->ne[1];
        const int64_t row2 = at / tiles / rows->ne[1] % rows->ne[2];
        const int64_t row3 = at / tiles / rows->ne[1] / rows->ne[2];
        const int64_t count = tiles - tile < end - at ? tiles - tile : end - at;
        const int64_t to = index_at(node->src[1], i, row2, row3);
        GGML_ASSERT(to >= 0 && to < node->ne[1]);
        const char *from = (const char *)rows->data + (size_t)i * rows->nb[1] + (size_t)row2 * rows->nb[2] +
                           (size_t)row3 * rows->nb[3];
        char *bytes =
            (char *)node->data + (size_t)to * node->nb[1] + (size_t)row2 * node->nb[2] + (size_t)row3 * node->nb[3];
        format->encode((const float *)from + tile * format->tile, bytes + tile * format->tile_bytes,
                       count * format->tile);
        at += count;
    }
    return true;
}

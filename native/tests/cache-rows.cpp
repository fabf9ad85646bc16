#include "cache-rows.h"

#include <bit>
#include <cmath>

#include "ggml-cpp.h"
#include "llama-kv-cache.h"
#include "small-model.h"

namespace small {

namespace {

void hadamard(float *values, size_t width) {
    std::vector<double> turned(width);
    for (size_t i = 0; i < width; ++i) {
        for (size_t j = 0; j < width; ++j) turned[i] += std::popcount(i & j) % 2 == 0 ? values[j] : -values[j];
    }
    for (size_t i = 0; i < width; ++i)
        values[i] = static_cast<float>(turned[i] / std::sqrt(static_cast<double>(width)));
}

} // namespace

std::vector<float> stored_rows(llama_context *context, char side, int32_t head_dim, int32_t count) {
    const auto *cache = dynamic_cast<const llama_kv_cache *>(llama_get_memory(context));
    const ggml_context_ptr views(ggml_init({4 * ggml_tensor_overhead(), nullptr, true}));
    const llama_kv_cache::slot_info first{};
    const ggml_tensor *view = side == 'K' ? cache->get_k(views.get(), 0, static_cast<uint32_t>(count), first)
                                          : cache->get_v(views.get(), 0, static_cast<uint32_t>(count), first);
    const ggml_tensor *matrix =
        side == 'K' ? cache->build_input_k_rot(views.get()) : cache->build_input_v_rot(views.get());
    const size_t values = static_cast<size_t>(head_dim) * KV_HEADS;
    std::vector<float> rows(values * static_cast<size_t>(count));
    for (int32_t row = 0; row < count; ++row) {
        float *to = rows.data() + static_cast<size_t>(row) * values;
        const char *from = static_cast<const char *>(view->view_src->data) +
                           static_cast<size_t>(row) * ggml_row_size(view->type, static_cast<int64_t>(values));
        if (view->type == GGML_TYPE_F32) {
            std::copy_n(reinterpret_cast<const float *>(from), values, to);
        } else {
            ggml_get_type_traits(view->type)->to_float(from, to, static_cast<int64_t>(values));
        }
        if (matrix == nullptr) continue;
        const auto width = static_cast<size_t>(matrix->ne[0]);
        for (size_t i = 0; i < values; i += width) hadamard(to + i, width);
    }
    return rows;
}

double relative_error(const std::vector<float> &truth, const std::vector<float> &rows) {
    double error = 0;
    double energy = 0;
    for (size_t i = 0; i < truth.size(); ++i) {
        const double difference = double(truth[i]) - rows[i];
        error += difference * difference;
        energy += double(truth[i]) * truth[i];
    }
    return error / energy;
}

} // namespace small

#include "runtimes/llama/map/attention-weights.h"

#include <memory>
#include <stdexcept>

#include "ggml-cpu.h"

namespace eliza {

namespace {

struct GgmlDeleter {
    void operator()(ggml_context *context) const { ggml_free(context); }
};

ggml_tensor *matrix(ggml_context *ctx, const float *rows, int64_t width, int64_t height) {
    ggml_tensor *tensor = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, width, height);
    tensor->data = const_cast<float *>(rows);
    return tensor;
}

} // namespace

AttentionWeights attention_weights(const AttentionInput &in) {
    const auto keys = static_cast<size_t>(in.key_count);
    const auto queries = static_cast<size_t>(in.query_count);
    const std::unique_ptr<ggml_context, GgmlDeleter> ctx(
        ggml_init({16 * ggml_tensor_overhead() + ggml_graph_overhead(), nullptr, true}));
    if (ctx == nullptr) throw std::bad_alloc();
    std::vector<float> logits(keys * queries);
    std::vector<float> probabilities(keys * queries);

    ggml_tensor *scores = ggml_mul_mat(ctx.get(), matrix(ctx.get(), in.keys, in.head_dim, in.key_count),
                                       matrix(ctx.get(), in.queries, in.head_dim, in.query_count));
    scores->data = logits.data();
    float scale = in.scale;
    if (in.softcap != 0.0f) {
        scores = ggml_scale_inplace(ctx.get(), scores, in.scale / in.softcap);
        scores = ggml_tanh_inplace(ctx.get(), scores);
        scale = in.softcap;
    }
    ggml_tensor *mask = nullptr;
    if (in.mask != nullptr) {
        mask = ggml_new_tensor_2d(ctx.get(), in.mask->type, in.mask->ne[0], in.mask->ne[1]);
        mask->data = in.mask->data;
    }
    ggml_tensor *softmax = ggml_soft_max_ext(ctx.get(), scores, mask, scale, 0.0f);
    softmax->data = probabilities.data();
    ggml_cgraph *graph = ggml_new_graph(ctx.get());
    ggml_build_forward_expand(graph, softmax);
    for (int i = 0; i < ggml_graph_n_nodes(graph); ++i) {
        ggml_tensor *node = ggml_graph_node(graph, i);
        if (node->data == nullptr) node->data = logits.data(); // the in-place steps
    }
    ggml_cplan plan = ggml_graph_plan(graph, 1, nullptr);
    std::vector<uint8_t> work(plan.work_size);
    plan.work_data = work.data();
    if (ggml_graph_compute(graph, &plan) != GGML_STATUS_SUCCESS) throw std::runtime_error("the attention graph failed");

    AttentionWeights weights{std::vector<double>(keys), std::vector<double>(queries), std::vector<double>(keys)};
    for (size_t q = 0; q < queries; ++q) {
        const float *row = probabilities.data() + q * keys;
        const float *capped = logits.data() + q * keys; // tanh of the capped score
        double total = 0.0;
        for (size_t k = 0; k < keys; ++k) {
            const double p = row[k];
            if (p == 0.0) continue;
            if (in.exact && in.exact.holds(in.query_positions[q], in.key_positions[k])) continue;
            double w = p * (1.0 - p);
            if (in.softcap != 0.0f) {
                const double slope = 1.0 - double(capped[k]) * capped[k];
                w *= slope * slope;
            }
            weights.key[k] += w;
            weights.value[k] += p * p;
            total += w;
        }
        weights.query[q] = total;
    }
    return weights;
}

} // namespace eliza

// GGML_OP_FLASH_ATTN_EXT of the tree that this is built with, as a module: a benchmark loads the edited tree's and the
// pristine tree's into one process and runs them in turn. K, V and queries depend on the case alone.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "ggml.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

ggml_type type_of(const char *name) {
    for (int i = 0; i < GGML_TYPE_COUNT; ++i) {
        const auto type = static_cast<ggml_type>(i);
        const char *known = ggml_type_name(type);
        if (known != nullptr && ggml_blck_size(type) > 0 && std::strcmp(known, name) == 0) return type;
    }
    return GGML_TYPE_COUNT;
}

// Coding 131,072 rows with a trellis takes minutes: rows repeat after this many.
constexpr int64_t DISTINCT_ROWS = 509;

void fill_rows(ggml_tensor *tensor, std::mt19937 &random) {
    std::normal_distribution<float> gaussian;
    const auto to_bytes = ggml_get_type_traits_cpu(tensor->type)->from_float;
    const int64_t values = tensor->ne[0] * tensor->ne[1];
    const int64_t distinct = std::min(DISTINCT_ROWS, tensor->ne[2]);
    std::vector<float> row(static_cast<size_t>(values));
    auto *data = static_cast<char *>(tensor->data);
    for (int64_t i = 0; i < tensor->ne[2]; ++i) {
        char *at = data + static_cast<size_t>(i) * tensor->nb[2];
        if (i >= distinct) {
            std::memcpy(at, at - static_cast<size_t>(distinct) * tensor->nb[2], tensor->nb[2]);
            continue;
        }
        for (float &value : row) value = gaussian(random);
        to_bytes(row.data(), at, values);
    }
}

struct Case {
    ggml_context *context = nullptr;
    ggml_cgraph *graph = nullptr;
    ggml_tensor *out = nullptr;
    ggml_threadpool *pool = nullptr;
    std::vector<uint8_t> work;
    int threads = 1;

    ~Case() {
        if (pool != nullptr) ggml_threadpool_free(pool);
        if (context != nullptr) ggml_free(context);
    }
};

} // namespace

// NULL if a type is unknown, or the head is no run of its blocks. Queries are the last n_q tokens, and see what is before them.
EXPORT void *attention_op_open(const char *k_type, const char *v_type, int head_dim, int n_head, int n_head_kv,
                               int n_kv, int n_q, int threads) {
    const ggml_type k_id = type_of(k_type);
    const ggml_type v_id = type_of(v_type);
    if (k_id == GGML_TYPE_COUNT || v_id == GGML_TYPE_COUNT) return nullptr;
    if (head_dim % ggml_blck_size(k_id) != 0 || head_dim % ggml_blck_size(v_id) != 0) return nullptr;
    auto made = std::make_unique<Case>();
    const size_t rows = static_cast<size_t>(n_head_kv) * n_kv;
    const size_t coded = rows * (ggml_row_size(k_id, head_dim) + ggml_row_size(v_id, head_dim));
    const size_t bytes = coded + static_cast<size_t>(n_q) * (2 * n_kv + 16 * head_dim * n_head) + (1 << 20);
    made->context = ggml_init({bytes, nullptr, false});
    made->threads = threads;
    std::mt19937 random(12345);
    // as llama.cpp's cache has them: a token's heads side by side
    ggml_tensor *k = ggml_new_tensor_3d(made->context, k_id, head_dim, n_head_kv, n_kv);
    ggml_tensor *v = ggml_new_tensor_3d(made->context, v_id, head_dim, n_head_kv, n_kv);
    fill_rows(k, random);
    fill_rows(v, random);
    ggml_tensor *q = ggml_new_tensor_3d(made->context, GGML_TYPE_F32, head_dim, n_q, n_head);
    std::normal_distribution<float> gaussian;
    for (int64_t i = 0; i < ggml_nelements(q); ++i) static_cast<float *>(q->data)[i] = gaussian(random);
    ggml_tensor *mask = ggml_new_tensor_2d(made->context, GGML_TYPE_F16, n_kv, n_q);
    for (int t = 0; t < n_q; ++t) {
        for (int i = 0; i < n_kv; ++i) {
            static_cast<ggml_fp16_t *>(mask->data)[static_cast<size_t>(t) * n_kv + i] =
                i <= n_kv - n_q + t ? 0 : 0xfc00;
        }
    }
    made->out = ggml_flash_attn_ext(made->context, q, ggml_permute(made->context, k, 0, 2, 1, 3),
                                    ggml_permute(made->context, v, 0, 2, 1, 3), mask, 1.0f / std::sqrt((float)head_dim),
                                    0.0f, 0.0f);
    made->graph = ggml_new_graph_custom(made->context, 16, false);
    ggml_build_forward_expand(made->graph, made->out);
    ggml_threadpool_params params = ggml_threadpool_params_default(threads);
    params.poll = 0; // many cases are open at a time: whoever waits must not spin
    made->pool = ggml_threadpool_new(&params);
    return made.release();
}

// Computes the attention once; nanoseconds.
EXPORT double attention_op_run(void *opened) {
    auto *made = static_cast<Case *>(opened);
    ggml_cplan plan = ggml_graph_plan(made->graph, made->threads, made->pool);
    made->work.resize(plan.work_size);
    plan.work_data = made->work.data();
    const auto start = std::chrono::steady_clock::now();
    ggml_graph_compute(made->graph, &plan);
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

// The output, head_dim × n_head × n_q floats.
EXPORT const float *attention_op_output(void *opened) {
    return static_cast<const float *>(static_cast<Case *>(opened)->out->data);
}

// Bytes of K and V together.
EXPORT double attention_op_bytes(void *opened) {
    const ggml_tensor *out = static_cast<Case *>(opened)->out;
    return static_cast<double>(ggml_nbytes(out->src[1]->view_src) + ggml_nbytes(out->src[2]->view_src));
}

EXPORT void attention_op_close(void *opened) { delete static_cast<Case *>(opened); }

// Bytes a second that the threads read together from memory that no cache holds.
EXPORT double attention_op_bandwidth(int threads) {
    const size_t words = size_t{48} << 20; // 384 MB together, a thread its part
    std::vector<uint64_t> memory(words, 1);
    std::vector<std::thread> readers;
    std::vector<uint64_t> sums(static_cast<size_t>(threads));
    const auto start = std::chrono::steady_clock::now();
    for (int t = 0; t < threads; ++t) {
        readers.emplace_back([&, t] {
            uint64_t sum = 0;
            for (size_t i = words / threads * t; i < words / threads * (t + 1); ++i) sum += memory[i];
            sums[static_cast<size_t>(t)] = sum;
        });
    }
    for (auto &reader : readers) reader.join();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    uint64_t all = 0;
    for (const uint64_t sum : sums) all += sum;
    return all == 0 ? 0.0 : static_cast<double>(words) * 8.0 / seconds;
}

// ggml/device-support.h against what the device computes: every type, side, head size and operation.
#include "ggml/device-support.h"

#include <cmath>
#include <random>
#include <set>
#include <vector>

#include "cache-rows.h"
#include "check.h"
#include "eliza_attention.h"
#include "eliza_kv.h"
#include "ggml-alloc.h"
#include "ggml-backend.h"
#include "ggml-cpp.h"

namespace {

constexpr int64_t HEADS = 2;
constexpr int64_t GROUP = 2;
constexpr int64_t ROWS = 24;
constexpr int64_t EXACT_ROWS = 8;
constexpr int32_t HEAD_SIZES[] = {16, 32, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 512};

std::vector<float> gaussian(size_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    std::vector<float> values(count);
    for (float &value : values) value = normal(random);
    return values;
}

// One graph on the device: rows are written into a cache of `type`, read back, and attended to.
struct Graph {
    ggml_backend_ptr backend{ggml_backend_init_by_type(GGML_BACKEND_DEVICE_TYPE_CPU, nullptr)};
    ggml_context_ptr tensors{ggml_init({64 * ggml_tensor_overhead() + ggml_graph_overhead(), nullptr, true})};
    ggml_backend_buffer_ptr buffer;
    ggml_cgraph *graph = ggml_new_graph(tensors.get());

    ggml_tensor *add(ggml_type type, int64_t columns, int64_t rows, int64_t heads = 1) {
        return ggml_new_tensor_3d(tensors.get(), type, columns, rows, heads);
    }
    void allocate() { buffer.reset(ggml_backend_alloc_ctx_tensors(tensors.get(), backend.get())); }
    bool compute() { return ggml_backend_graph_compute(backend.get(), graph) == GGML_STATUS_SUCCESS; }
};

template <typename T> void fill(ggml_tensor *tensor, const std::vector<T> &values) {
    ggml_backend_tensor_set(tensor, values.data(), 0, values.size() * sizeof(T));
}

std::vector<ggml_fp16_t> halves(const std::vector<float> &values) {
    std::vector<ggml_fp16_t> out(values.size());
    ggml_fp32_to_fp16_row(values.data(), out.data(), static_cast<int64_t>(values.size()));
    return out;
}

std::vector<float> widened(const std::vector<ggml_fp16_t> &values) {
    std::vector<float> out(values.size());
    ggml_fp16_to_fp32_row(values.data(), out.data(), static_cast<int64_t>(values.size()));
    return out;
}

std::vector<float> read(const ggml_tensor *tensor) {
    std::vector<float> values(static_cast<size_t>(ggml_nelements(tensor)));
    ggml_backend_tensor_get(tensor, values.data(), 0, ggml_nbytes(tensor));
    return values;
}

struct Outcome {
    double written = NAN;  // error of the rows read back, as a share of their energy
    double attended = NAN; // largest error of attention over the rows read back, as a share of the largest |v|
};

// Rows are laid out token by token, a token's heads side by side, as the cache has them.
Outcome run(char side, ggml_type type, int64_t head_dim, bool exact) {
    const int64_t width = head_dim * HEADS;
    const size_t values = static_cast<size_t>(width * ROWS);
    const std::vector<float> coded = gaussian(values, 1);
    const std::vector<float> other = widened(halves(gaussian(values, 2)));
    const std::vector<float> query = gaussian(static_cast<size_t>(width * GROUP), 3);
    const auto exact_values = static_cast<size_t>(width * EXACT_ROWS);
    const std::vector<float> k_exact = widened(halves(gaussian(exact_values, 4)));
    const std::vector<float> v_exact = widened(halves(gaussian(exact_values, 5)));

    Graph g;
    ggml_context *c = g.tensors.get();
    ggml_tensor *cache = g.add(type, width, ROWS);
    ggml_tensor *rows = g.add(GGML_TYPE_F32, width, ROWS);
    ggml_tensor *index = ggml_new_tensor_1d(c, GGML_TYPE_I64, ROWS);
    ggml_tensor *beside = g.add(GGML_TYPE_F16, width, ROWS);
    ggml_tensor *q = g.add(GGML_TYPE_F32, head_dim, 1, HEADS * GROUP);
    ggml_tensor *mask = g.add(GGML_TYPE_F16, ROWS, 1);
    ggml_tensor *sources[3] = {};
    if (exact) {
        sources[0] = g.add(GGML_TYPE_F16, width, EXACT_ROWS);
        sources[1] = g.add(GGML_TYPE_F16, width, EXACT_ROWS);
        sources[2] = g.add(GGML_TYPE_F16, EXACT_ROWS, 1);
    }
    ggml_tensor *written = ggml_set_rows(c, cache, rows, index);
    const auto by_heads = [&](ggml_tensor *from, int64_t count) {
        return ggml_view_3d(c, from, head_dim, count, HEADS, ggml_row_size(from->type, width),
                            ggml_row_size(from->type, head_dim), 0);
    };
    ggml_tensor *k = by_heads(side == 'K' ? written : beside, ROWS);
    ggml_tensor *v = by_heads(side == 'V' ? written : beside, ROWS);
    const float scale = 1 / std::sqrt(static_cast<float>(head_dim));
    ggml_tensor *attended = ggml_flash_attn_ext(c, q, k, v, mask, scale, 0, 0);
    ggml_prec precision = GGML_PREC_F32;
    ggml_flash_attn_ext_set_prec(attended, precision);
    if (exact) {
        attended->src[5] = by_heads(sources[0], EXACT_ROWS);
        attended->src[6] = by_heads(sources[1], EXACT_ROWS);
        attended->src[7] = sources[2];
    }
    ggml_tensor *back = ggml_cpy(c, written, g.add(GGML_TYPE_F32, width, ROWS));
    ggml_build_forward_expand(g.graph, back);
    ggml_build_forward_expand(g.graph, attended);
    g.allocate();
    std::vector<int64_t> place(ROWS);
    for (int64_t i = 0; i < ROWS; ++i) place[static_cast<size_t>(i)] = (i + 5) % ROWS;
    fill(rows, coded);
    fill(index, place);
    fill(beside, halves(other));
    fill(q, query);
    fill(mask, std::vector<ggml_fp16_t>(ROWS));
    if (exact) {
        fill(sources[0], halves(k_exact));
        fill(sources[1], halves(v_exact));
        fill(sources[2], std::vector<ggml_fp16_t>(EXACT_ROWS));
    }
    if (!g.compute()) return {};

    Outcome outcome;
    const std::vector<float> decoded = read(back);
    std::vector<float> sent(values);
    for (size_t i = 0; i < ROWS; ++i) {
        std::copy_n(coded.data() + i * width, width, sent.data() + static_cast<size_t>(place[i]) * width);
    }
    outcome.written = small::relative_error(sent, decoded);
    const std::vector<float> result = read(attended);
    double largest = 0, error = 0;
    for (int64_t head = 0; head < HEADS * GROUP; ++head) {
        const int64_t kv = head / GROUP;
        std::vector<double> weights, sums(static_cast<size_t>(head_dim));
        const auto row = [&](const std::vector<float> &from, int64_t number) {
            return from.data() + number * width + kv * head_dim;
        };
        const auto keys = [&](int64_t number) {
            if (number >= ROWS) return row(k_exact, number - ROWS);
            return side == 'K' ? row(decoded, number) : row(other, number);
        };
        const auto sum_of = [&](int64_t number) {
            if (number >= ROWS) return row(v_exact, number - ROWS);
            return side == 'V' ? row(decoded, number) : row(other, number);
        };
        const int64_t count = ROWS + (exact ? EXACT_ROWS : 0);
        double total = 0;
        for (int64_t number = 0; number < count; ++number) {
            double score = 0;
            for (int64_t i = 0; i < head_dim; ++i)
                score += double(query[static_cast<size_t>(head * head_dim + i)]) * keys(number)[i];
            weights.push_back(std::exp(score * scale));
            total += weights.back();
        }
        for (int64_t number = 0; number < count; ++number) {
            for (int64_t i = 0; i < head_dim; ++i) {
                sums[static_cast<size_t>(i)] += weights[static_cast<size_t>(number)] / total * sum_of(number)[i];
                largest = std::fmax(largest, std::fabs(double(sum_of(number)[i])));
            }
        }
        for (int64_t i = 0; i < head_dim; ++i) {
            error = std::fmax(
                error, std::fabs(sums[static_cast<size_t>(i)] - result[static_cast<size_t>(head * head_dim + i)]));
        }
    }
    outcome.attended = error / largest;
    return outcome;
}

std::set<int32_t> known_types() {
    size_t count = 0;
    const eliza_device_support *rows = eliza_device_support_rows(&count);
    std::set<int32_t> types;
    for (size_t i = 0; i < count; ++i) types.insert(rows[i].type);
    return types;
}

bool supports(eliza_cache_operation operation, char side, int32_t type, int32_t head_dim) {
    return eliza_device_supports("cpu", operation, side, type, head_dim) == ELIZA_CACHE_SUPPORTED;
}

} // namespace

TEST("device support: what the table allows on the CPU is computed, for every type, side and head size") {
    int computed = 0;
    for (const int32_t id : known_types()) {
        const auto type = static_cast<ggml_type>(id);
        // A sketch is scored, not decoded: what its scores are worth, the kernels' own tests say.
        const eliza_kv_format *format = eliza_kv_format_by_type(id);
        const bool sketched = format != nullptr && !format->shiftable;
        for (const int32_t head_dim : HEAD_SIZES) {
            for (const char side : {'K', 'V'}) {
                for (const auto attends : {ELIZA_CACHE_ATTEND, ELIZA_CACHE_ATTEND_EXACT}) {
                    if (!supports(attends, side, id, head_dim)) continue;
                    EXPECT(supports(ELIZA_CACHE_WRITE, side, id, head_dim));
                    EXPECT(supports(ELIZA_CACHE_READ, side, id, head_dim));
                    const Outcome outcome = run(side, type, head_dim, attends == ELIZA_CACHE_ATTEND_EXACT);
                    const bool right = outcome.written < (sketched ? 1.0 : 0.2) &&
                                       (sketched ? std::isfinite(outcome.attended) : outcome.attended < 2e-3);
                    if (!right) {
                        std::printf("# %s as %c, head_dim %d, %s: rows %g, attention %g\n", ggml_type_name(type), side,
                                    head_dim, eliza_cache_operation_name(attends), outcome.written, outcome.attended);
                    }
                    EXPECT(right);
                    ++computed;
                }
            }
        }
    }
    std::printf("# %d of type, side, head size and attention\n", computed);
    EXPECT(computed > 300);
}

TEST("device support: what the table refuses has a reason in the type's layout") {
    for (const int32_t id : known_types()) {
        const eliza_kv_format *format = eliza_kv_format_by_type(id);
        const bool mixed = format != nullptr && format->needs_map;
        for (int32_t head_dim = 1; head_dim <= 512; ++head_dim) {
            const auto block = static_cast<int32_t>(ggml_blck_size(static_cast<ggml_type>(id)));
            const bool rows_fit = mixed ? head_dim == block : head_dim % block == 0;
            EXPECT(supports(ELIZA_CACHE_WRITE, 'K', id, head_dim) == rows_fit);
            EXPECT(supports(ELIZA_CACHE_ATTEND, 'K', id, head_dim) == rows_fit);
            const bool kernel = eliza_attention_supports(id, GGML_TYPE_F16, head_dim, 16);
            EXPECT(supports(ELIZA_CACHE_ATTEND_EXACT, 'K', id, head_dim) == (kernel && rows_fit));
            const bool values = format == nullptr || !format->keys_only;
            EXPECT(supports(ELIZA_CACHE_ATTEND, 'V', id, head_dim) == (rows_fit && values));
            EXPECT(!supports(ELIZA_CACHE_SHIFT, 'V', id, head_dim));
            const bool shiftable = format == nullptr || format->shiftable;
            EXPECT(supports(ELIZA_CACHE_SHIFT, 'K', id, head_dim) == (rows_fit && shiftable));
        }
        EXPECT(eliza_device_supports("abacus", ELIZA_CACHE_ATTEND, 'K', id, 128) == ELIZA_CACHE_NO_TYPE);
    }
    EXPECT(eliza_device_supports("cpu", ELIZA_CACHE_ATTEND, 'K', GGML_TYPE_Q2_K, 256) == ELIZA_CACHE_NO_TYPE);
    EXPECT(eliza_device_supports("cpu", ELIZA_CACHE_ATTEND, 'V', ELIZA_KV_TYPE_QJL1_256, 128) == ELIZA_CACHE_NO_SIDE);
    EXPECT(eliza_device_supports("cpu", ELIZA_CACHE_SHIFT, 'K', ELIZA_KV_TYPE_QJL1_256, 128) ==
           ELIZA_CACHE_NO_OPERATION);
}

// Every KV format inside llama.cpp's own graph: what it stores, and what a K shift does to it.
#include <cmath>
#include <cstdlib>
#include <vector>

#include "cache-rows.h"
#include "check.h"
#include "eliza_kv.h"
#include "ggml/device-support.h"
#include "small-model.h"

namespace {

constexpr int32_t TOKENS = 96;
constexpr int32_t SHIFTS = 10;

std::vector<eliza_kv_format> formats_for(int32_t head_dim) {
    size_t count = 0;
    const eliza_kv_format *all = eliza_kv_formats(&count);
    std::vector<eliza_kv_format> fitting;
    for (size_t i = 0; i < count; ++i) {
        if (eliza_device_supports("cpu", ELIZA_CACHE_ATTEND, 'K', all[i].type, head_dim) == ELIZA_CACHE_SUPPORTED) {
            fitting.push_back(all[i]);
        }
    }
    return fitting;
}

double codec_error(const eliza_kv_format &format, const std::vector<float> &rows) {
    const auto count = static_cast<int64_t>(rows.size());
    std::vector<char> bytes(rows.size() / static_cast<size_t>(format.tile) * static_cast<size_t>(format.tile_bytes));
    std::vector<float> decoded(rows.size());
    format.encode(rows.data(), bytes.data(), count);
    format.decode(bytes.data(), decoded.data(), count);
    return small::relative_error(rows, decoded);
}

void check_outliers(int32_t head_dim) {
    const small::Model model = small::make_model(static_cast<uint32_t>(head_dim), 1);
    EXPECT(model != nullptr);
    if (!model) return;
    const small::Context exact = small::make_context(model.get(), GGML_TYPE_F32, GGML_TYPE_F32);
    EXPECT(small::decode(exact.get(), 0, TOKENS, 0));
    for (const eliza_kv_format &format : formats_for(head_dim)) {
        const auto type = static_cast<ggml_type>(format.type);
        for (const char side : {'K', 'V'}) {
            if (side == 'V' && (format.keys_only || format.needs_map)) continue;
            const small::Context context = small::make_context(model.get(), side == 'K' ? type : GGML_TYPE_F16,
                                                               side == 'V' ? type : GGML_TYPE_F16);
            EXPECT(context != nullptr && small::decode(context.get(), 0, TOKENS, 0));
            if (!context) continue;
            const std::vector<float> truth = small::stored_rows(exact.get(), side, head_dim, TOKENS);
            const double graph =
                small::relative_error(truth, small::stored_rows(context.get(), side, head_dim, TOKENS));
            const double codec = codec_error(format, truth);
            std::printf("# %s as %c, head_dim %d: %.5f in the graph, %.5f by the codec, ratio %.3f\n", format.name,
                        side, head_dim, graph, codec, graph / codec);
            EXPECT(graph > 0 && graph <= 1.15 * codec);
        }
    }
}

// Error of the keys after ten shifts, each of which codes every key anew, against keys that were shifted in float32.
double shifted_error(llama_model *model, ggml_type type, int32_t head_dim, int32_t shifts) {
    const small::Context exact = small::make_context(model, GGML_TYPE_F32, GGML_TYPE_F32);
    const small::Context context = small::make_context(model, type, GGML_TYPE_F16);
    EXPECT(exact != nullptr && context != nullptr);
    if (!context) return NAN;
    for (llama_context *each : {exact.get(), context.get()}) {
        EXPECT(small::decode(each, 0, TOKENS, 0));
        EXPECT(llama_memory_can_shift(llama_get_memory(each)));
        for (int32_t shift = 0; shift < shifts; ++shift) {
            llama_memory_seq_add(llama_get_memory(each), 0, 0, -1, 5);
            EXPECT(small::decode(each, TOKENS + shift, 1, TOKENS + shift + 5 * (shift + 1)));
        }
    }
    return small::relative_error(small::stored_rows(exact.get(), 'K', head_dim, TOKENS),
                                 small::stored_rows(context.get(), 'K', head_dim, TOKENS));
}

void check_shifts(int32_t head_dim, bool rotated) {
    const small::Model model = small::make_model(static_cast<uint32_t>(head_dim), 2);
    std::vector<ggml_type> types{GGML_TYPE_Q8_0, GGML_TYPE_Q5_1, GGML_TYPE_IQ4_NL, GGML_TYPE_Q4_0};
    for (const eliza_kv_format &format : formats_for(head_dim)) {
        if (format.shiftable) types.push_back(static_cast<ggml_type>(format.type));
    }
    for (const ggml_type type : types) {
        const double before = shifted_error(model.get(), type, head_dim, 0);
        const double after = shifted_error(model.get(), type, head_dim, SHIFTS);
        std::printf("# %s, head_dim %d: error of the keys %.6f, after %d shifts %.6f\n", ggml_type_name(type), head_dim,
                    before, SHIFTS, after);
        EXPECT(std::isfinite(after) && after > before / 2);
        // Eleven codings whose errors are independent add up to eleven times the error of one. The types that do not
        // rotate by themselves lose more when the graph does not do it: the angle moves outliers between their blocks.
        if (eliza_kv_format_by_type(type) != nullptr || rotated) EXPECT(after <= 11 * 1.15 * before);
    }
}

} // namespace

TEST("cache: rows with outliers cost what the codec alone costs, head_dim 64") { check_outliers(64); }
TEST("cache: rows with outliers cost what the codec alone costs, head_dim 128") { check_outliers(128); }
TEST("cache: rows with outliers cost what the codec alone costs, head_dim 256") { check_outliers(256); }

TEST("cache: ten K shifts in a row, head_dim 64") { check_shifts(64, true); }
TEST("cache: ten K shifts in a row, head_dim 128") { check_shifts(128, true); }

TEST("cache: ten K shifts in a row without the graph's rotation") {
    setenv("LLAMA_ATTN_ROT_DISABLE", "1", 1);
    check_shifts(64, false);
    check_shifts(128, false);
    unsetenv("LLAMA_ATTN_ROT_DISABLE");
}

TEST("cache: a K shift is refused for sketches of keys") {
    const small::Model model = small::make_model(128, 1);
    for (const eliza_kv_format &format : formats_for(128)) {
        const small::Context context =
            small::make_context(model.get(), static_cast<ggml_type>(format.type), GGML_TYPE_F16);
        EXPECT(context != nullptr);
        const auto answer = eliza_device_supports("cpu", ELIZA_CACHE_SHIFT, 'K', format.type, 128);
        const bool shifts = answer == ELIZA_CACHE_SUPPORTED;
        if (context) EXPECT(llama_memory_can_shift(llama_get_memory(context.get())) == shifts);
    }
}

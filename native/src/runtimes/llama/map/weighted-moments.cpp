#include "runtimes/llama/map/weighted-moments.h"

namespace eliza {

namespace {

// Rows taken at once: each entry of the sum is then loaded once for this many products.
constexpr size_t BLOCK = 8;

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__linux__)
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
void add_block(double *second, const double *plain, const double *weighted, size_t size) {
    for (size_t a = 0; a < size; ++a) {
        double w[BLOCK];
        for (size_t t = 0; t < BLOCK; ++t) w[t] = weighted[t * size + a];
        double *row = second + a * size;
        for (size_t b = a; b < size; ++b) {
            double sum = row[b];
            for (size_t t = 0; t < BLOCK; ++t) sum += w[t] * plain[t * size + b];
            row[b] = sum;
        }
    }
}

} // namespace

void WeightedMoments::add(const float *rows, const double *weights, size_t count) {
    std::vector<double> plain(BLOCK * size_);
    std::vector<double> weighted(BLOCK * size_);
    size_t filled = 0;
    const auto flush = [&] {
        if (filled == 0) return;
        for (size_t t = filled; t < BLOCK; ++t) {
            for (size_t i = 0; i < size_; ++i) plain[t * size_ + i] = weighted[t * size_ + i] = 0.0;
        }
        add_block(second_.data(), plain.data(), weighted.data(), size_);
        filled = 0;
    };
    for (size_t row = 0; row < count; ++row) {
        const double weight = weights[row];
        if (weight == 0.0) continue;
        weight_ += weight;
        for (size_t i = 0; i < size_; ++i) {
            const double value = rows[row * size_ + i];
            plain[filled * size_ + i] = value;
            weighted[filled * size_ + i] = weight * value;
            sum_[i] += weight * value;
        }
        if (++filled == BLOCK) flush();
    }
    flush();
}

std::vector<double> WeightedMoments::second() const {
    std::vector<double> full = second_;
    for (size_t a = 0; a < size_; ++a) {
        for (size_t b = 0; b < a; ++b) full[a * size_ + b] = full[b * size_ + a];
    }
    return full;
}

} // namespace eliza

#pragma once

#include <cstddef>
#include <vector>

namespace eliza {

// Weighted sums over vectors of `size` values, in float64: of the weights, of w x, and of w x xᵀ.
class WeightedMoments {
  public:
    explicit WeightedMoments(size_t size) : size_(size), sum_(size), second_(size * size) {}

    // rows: count vectors, contiguous. Weights are finite and not negative; rows with a weight of 0 cost nothing.
    void add(const float *rows, const double *weights, size_t count);

    double weight() const { return weight_; }
    const std::vector<double> &sum() const { return sum_; }
    // [size][size], symmetric.
    std::vector<double> second() const;

  private:
    size_t size_;
    double weight_ = 0.0;
    std::vector<double> sum_;
    std::vector<double> second_; // the upper triangle
};

} // namespace eliza

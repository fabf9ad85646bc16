#include "distribution.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <stdexcept>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {

// Sums run in 16 lanes that the compiler can keep in registers, and are moved to float64 before float32 loses them.
constexpr size_t LANES = 16;
constexpr size_t FLUSH = 1024;

// e^x for x <= 0, relative error below 2e-7: 2^n times a polynomial in the fraction (Cephes' coefficients).
inline float exp_negative(float x) {
    x = std::max(x, -87.0f);
    const float shifted = x * 1.44269504f + 12582912.0f; // 1.5 * 2^23 rounds to an integer
    const float n = shifted - 12582912.0f;
    const float r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    const auto exponent = (std::bit_cast<int32_t>(shifted) << 23) + (127 << 23);
    return p * std::bit_cast<float>(exponent);
}

float maximum(const float *values, size_t count) {
    std::array<float, LANES> lanes;
    lanes.fill(-INFINITY);
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        for (size_t lane = 0; lane < LANES; ++lane) lanes[lane] = std::max(lanes[lane], values[i + lane]);
    }
    float found = *std::max_element(lanes.begin(), lanes.end());
    for (; i < count; ++i) found = std::max(found, values[i]);
    return found;
}

double sum_exp(const float *values, size_t count, float top) {
    double total = 0;
    for (size_t from = 0; from < count; from += FLUSH) {
        const size_t to = std::min(count, from + FLUSH);
        std::array<float, LANES> lanes{};
        size_t i = from;
        for (; i + LANES <= to; i += LANES) {
            for (size_t lane = 0; lane < LANES; ++lane) lanes[lane] += exp_negative(values[i + lane] - top);
        }
        for (; i < to; ++i) lanes[0] += exp_negative(values[i] - top);
        for (const float lane : lanes) total += lane;
    }
    return total;
}

} // namespace

double negative_log_probability(const float *logits, size_t vocabulary, size_t next) {
    const float top = maximum(logits, vocabulary);
    return std::log(sum_exp(logits, vocabulary, top)) + top - logits[next];
}

Comparison compare_distributions(const float *reference, const float *logits, size_t vocabulary, size_t next) {
    const float top_p = maximum(reference, vocabulary);
    const float top_q = maximum(logits, vocabulary);
    double sum_p = 0;
    double weighted = 0; // sum of e^(p - top_p) * ((p - top_p) - (q - top_q))
    double total = 0;    // of all logits: not finite if one is not
    for (size_t from = 0; from < vocabulary; from += FLUSH) {
        const size_t to = std::min(vocabulary, from + FLUSH);
        std::array<float, LANES> lanes_p{};
        std::array<float, LANES> lanes_w{};
        std::array<float, LANES> lanes_t{};
        const auto add = [&](size_t i, size_t lane) {
            const float p = reference[i] - top_p;
            const float q = logits[i] - top_q;
            const float e = exp_negative(p);
            lanes_p[lane] += e;
            lanes_w[lane] += e * (p - q);
            lanes_t[lane] += p + q;
        };
        size_t i = from;
        for (; i + LANES <= to; i += LANES) {
            for (size_t lane = 0; lane < LANES; ++lane) add(i + lane, lane);
        }
        for (; i < to; ++i) add(i, 0);
        for (size_t lane = 0; lane < LANES; ++lane) {
            sum_p += lanes_p[lane];
            weighted += lanes_w[lane];
            total += lanes_t[lane];
        }
    }
    if (!std::isfinite(total)) return {NAN, NAN, false};
    const double log_p = std::log(sum_p);
    const double log_q = std::log(sum_exp(logits, vocabulary, top_q));
    const double excess = (double(reference[next]) - top_p - log_p) - (double(logits[next]) - top_q - log_q);
    const auto first_p = std::find(reference, reference + vocabulary, top_p) - reference;
    const auto first_q = std::find(logits, logits + vocabulary, top_q) - logits;
    return {weighted / sum_p - log_p + log_q, excess, first_p == first_q};
}

LogitsFile::LogitsFile(const std::string &path, size_t vocabulary, size_t rows)
    : vocabulary_(vocabulary), bytes_(vocabulary * rows * sizeof(float)) {
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (file < 0) throw std::runtime_error("cannot write " + path);
    unlink(path.c_str());
    void *data = ftruncate(file, static_cast<off_t>(bytes_)) == 0
                     ? mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
                     : MAP_FAILED;
    close(file);
    if (data == MAP_FAILED) throw std::runtime_error("cannot map " + std::to_string(bytes_) + " bytes of " + path);
    data_ = static_cast<float *>(data);
}

LogitsFile::~LogitsFile() { munmap(data_, bytes_); }

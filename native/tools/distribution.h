// Next-token distributions over a whole vocabulary, given as logits, and a file that keeps those of many positions.
#pragma once

#include <cstddef>
#include <string>

struct Comparison {
    double kl;         // sum of p log(p / q), in nats; p is the reference
    double nll_excess; // log p(next) - log q(next)
    bool same_top;     // the likeliest token is the same
};

// NaN where either has a logit that is not finite.
Comparison compare_distributions(const float *reference, const float *logits, size_t vocabulary, size_t next);

// -log p(next)
double negative_log_probability(const float *logits, size_t vocabulary, size_t next);

// Rows of float32 in a file of its own that is mapped into memory: the system may write them out and read them again,
// so a chunk's worth of a large vocabulary needs no memory of ours. The file is gone when the object is.
class LogitsFile {
  public:
    LogitsFile(const std::string &path, size_t vocabulary, size_t rows);
    ~LogitsFile();
    LogitsFile(const LogitsFile &) = delete;
    LogitsFile &operator=(const LogitsFile &) = delete;

    float *row(size_t index) const { return data_ + index * vocabulary_; }

  private:
    size_t vocabulary_;
    size_t bytes_;
    float *data_;
};

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "llama.h"

namespace eliza {

struct ModelDeleter {
    void operator()(llama_model *model) const { llama_model_free(model); }
};
using ModelPtr = std::unique_ptr<llama_model, ModelDeleter>;

// The GGUF file of a bundle: the file itself, or the one model in text/ of a folder (of a split one, its first part).
// Throws MODEL_NOT_FOUND or MODEL_INVALID.
std::string find_gguf(const std::string &bundle);

// Of a model that is being loaded: one thread loads, others look and cancel.
struct LoadProgress {
    std::atomic<int32_t> per_mille{0};
    std::atomic<bool> cancelled{false};
};

// Loads a model. Throws CANCELLED, MODEL_INVALID for what is no whole GGUF file of a kind that can generate,
// BACKEND_UNAVAILABLE for GPU layers on a host without a GPU device. repack: weights may be laid out anew for the
// processor, which is faster and keeps them from being read back.
ModelPtr load_model(const std::string &path, int32_t n_gpu_layers, bool repack = true,
                    LoadProgress *progress = nullptr);

// The devices that the model may use, as "CPU" or "CUDA0 (NVIDIA H200)".
std::string describe_device(int32_t n_gpu_layers);

// A model's metadata value as text, empty if there is none.
std::string model_meta(const llama_model *model, const std::string &key);

} // namespace eliza

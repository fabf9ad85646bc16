#pragma once

#include <cstdio>

#include "llama.h"

// Makes llama.cpp ready; of its log, errors alone go to standard error.
inline void start_llama() {
    llama_log_set(
        [](ggml_log_level level, const char *text, void *) {
            if (level == GGML_LOG_LEVEL_ERROR) std::fputs(text, stderr);
        },
        nullptr);
    llama_backend_init();
}

// NULL if the model cannot be loaded.
inline llama_model *open_model(const char *path, int32_t gpu_layers) {
    llama_model_params params = llama_model_default_params();
    params.n_gpu_layers = gpu_layers;
    return llama_model_load_from_file(path, params);
}

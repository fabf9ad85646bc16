#pragma once

#include <memory>
#include <string>

#include "llama.h"

namespace small {

struct ModelDeleter {
    void operator()(llama_model *model) const { llama_model_free(model); }
};
struct ContextDeleter {
    void operator()(llama_context *context) const { llama_free(context); }
};
using Model = std::unique_ptr<llama_model, ModelDeleter>;
using Context = std::unique_ptr<llama_context, ContextDeleter>;

constexpr int32_t VOCABULARY = 64;
constexpr int32_t KV_HEADS = 2;

// A Llama-shaped model with Gaussian weights, four query heads and two KV heads of that size. Three channels of every
// key and value head are twelve times as large as the others, as channels of real models are.
Model make_model(uint32_t head_dim, uint32_t layers);

// A Gemma-3-shaped model, five of whose six layers look back at `window` tokens.
Model make_window_model(uint32_t window);

// A context of 256 cells, flash attention, one thread.
Context make_context(llama_model *model, ggml_type k, ggml_type v);

// Decodes `count` tokens (a fixed sequence that starts with number `first`) at positions from `position` on; false if
// llama.cpp refuses.
bool decode(llama_context *context, int32_t first, int32_t count, int32_t position);

} // namespace small

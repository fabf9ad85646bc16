// GGML_OP_FLASH_ATTN_EXT on the CPU through kernels/cpu: every pair of types that eliza_attention_supports knows, but for
// two of f16 or f32 without an exact window, which stay with ggml so that their results equal its own bit for bit.
//
// src[5], src[6], src[7]: keys and values of the exact window and their mask, f16, as k, v and mask are laid out; all
// three or none. Its keys are scored and its values summed beside the others, under one softmax.
#ifndef ELIZA_GGML_ATTENTION_H
#define ELIZA_GGML_ATTENTION_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ggml_compute_params;
struct ggml_tensor;

// False if the node is left to ggml; nothing has been computed then.
bool eliza_attention_forward(const struct ggml_compute_params *params, struct ggml_tensor *node);
// Bytes of ggml's work buffer that the call above needs, 0 if the node is left to ggml.
size_t eliza_attention_forward_work_size(const struct ggml_tensor *node, int threads);

#ifdef __cplusplus
}
#endif

#endif

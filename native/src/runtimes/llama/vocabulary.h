#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "llama.h"

namespace eliza {

// Text and tokens of a loaded model. All of it may be called from any thread, also while the model computes.

// Token ids of UTF-8 text. add_special: the begin token where the model wants one; parse_special: markers such as
// <|im_end|> become their tokens. Throws INVALID_ARGUMENT beyond 1 GiB, NOT_IMPLEMENTED for a model without a tokenizer.
std::vector<int32_t> tokenize(const llama_vocab *vocab, const char *text, size_t bytes, bool add_special,
                              bool parse_special);

// Valid UTF-8; special: control tokens are spelled out. Throws INVALID_ARGUMENT for ids outside the vocabulary.
std::string detokenize(const llama_vocab *vocab, const int32_t *ids, size_t count, bool special);

// Throws INVALID_ARGUMENT, naming the first id outside the vocabulary.
void check_tokens(const llama_vocab *vocab, const int32_t *ids, size_t count);

} // namespace eliza

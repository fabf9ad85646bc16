#pragma once

#include "runtimes/llama/engine.h"

namespace eliza {

// Whether a batch could carry this sequence on now.
bool runnable(const Sequence &sequence);

// Computes one batch of at most a ubatch for the sequences that share a context: a token for each that
// generates, prompt tokens in turn for the others; then samples for each whose logits are there.
void decode_step(SharedContext &shared, const llama_vocab *vocab);

} // namespace eliza

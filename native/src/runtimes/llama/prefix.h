#pragma once

#include "llama.h"

struct llama_hparams;

namespace eliza {

// Whether a sequence's memory could go on at position n as if it had read the first n tokens and nothing more: every
// row that the next token looks at is there, and no state has moved on. Windows let go of rows as they move, and a
// recurrent state cannot go back at all.
bool holds_prefix(llama_memory_t memory, const llama_hparams &hparams, llama_seq_id id, llama_pos n);

// Whether the memory is rows alone, which can be removed from the end; a recurrent state cannot.
bool is_rows_alone(llama_memory_t memory);

} // namespace eliza

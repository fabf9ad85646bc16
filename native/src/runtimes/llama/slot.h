#pragma once

#include <string>

#include "runtimes/llama/engine.h"

namespace eliza {

// Computes what can be of a prompt that was handed over, then writes what is in the sequence's cache, and the tokens that
// wait to go there, to a file. Returns the tokens in the cache. Throws SLOT_WRITE_FAILED.
int32_t save_slot(Engine &engine, Sequence &sequence, const std::string &path);

// Makes the sequence the saved one: its tokens are in the cache, and the sampler has seen them. Returns the tokens in
// the cache. Where the file is refused, the sequence is as it was.
// Throws SLOT_NOT_FOUND, SLOT_INVALID, SLOT_MISMATCH, CONTEXT_FULL.
int32_t restore_slot(Engine &engine, Sequence &sequence, const std::string &path);

} // namespace eliza

#pragma once

#include <string>

namespace eliza {

// The library never prints: llama.cpp's log goes here. Idempotent.
void capture_llama_log();

// The errors that llama.cpp logged since the last call on any thread, joined, without its prefixes.
std::string take_llama_errors();

} // namespace eliza

#pragma once

#include <nlohmann/json_fwd.hpp>

#include "runtimes/llama/engine.h"

namespace eliza {

// What the KV cache of that sequence really is, read back from llama.cpp: the type, tile, rotation and bytes of K and V
// in each layer that stores them, which layers look into another layer's cache, and a reason for everything that is
// not as it was asked. Call it on the engine thread.
nlohmann::json kv_report(const Engine &engine, const Sequence &sequence);

} // namespace eliza

#pragma once

#include <string>

#include "runtimes/llama/engine.h"

namespace eliza {

// What really runs, read from the objects that run it: JSON of eliza_inference_llm_stream_report.
std::string llama_report(Engine &engine, Sequence &sequence);

} // namespace eliza

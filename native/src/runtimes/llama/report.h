#pragma once

#include <string>

#include "runtimes/llama/engine.h"

namespace eliza {

// What really runs, read from the objects that run it, as the JSON of the C ABI's reports.

// Of the model: eliza_inference_model_report. From any thread.
std::string llama_model_report(const Engine &engine);
// Of a stream's context and cache: eliza_inference_llm_stream_cache_report.
std::string llama_cache_report(Engine &engine, Sequence &sequence);
// Of its last generation: eliza_inference_llm_stream_generation_report. Does not wait for the engine.
std::string llama_generation_report(Sequence &sequence);
// All three: eliza_inference_llm_stream_report.
std::string llama_report(Engine &engine, Sequence &sequence);

} // namespace eliza

#pragma once

#include <memory>
#include <string>

#include "runtimes/worker/token-source.h"

namespace eliza {

// How a fake runtime behaves; tests write it.
struct FakeSpec {
    std::string name;
    int rank = 0;
    std::string unavailable;        // why it is not available; empty: it is
    std::string unsupported;        // why it does not support a config; empty: by its capabilities
    std::string artifact = ".fake"; // ending of the file in text/ that it serves
    Capabilities capabilities{};
    int step_ms = 0;        // that a token takes
    int32_t end_after = 0;  // tokens in the sequence at which the model ends its answer; 0: never
    int32_t fail_after = 0; // tokens in the sequence at which a step fails; 0: never
    int32_t trained_context = 256;
};

// A model of bytes: ids 0 to 255 are bytes, 256 begins a text, 257 ends one. The next byte follows from the whole
// sequence, and characters of one to four bytes come whole.
std::unique_ptr<TokenSource> make_fake_source(const FakeSpec &spec, const eliza_llm_stream_config_t &config);

} // namespace eliza

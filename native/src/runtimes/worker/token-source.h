#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "select/llm-backend.h"

namespace eliza {

// One computed step.
struct SourceStep {
    bool end = false; // the model ended its answer; id and bytes mean nothing
    int32_t id = 0;
    std::string bytes; // of the token, not necessarily whole characters
    int32_t drafted = 0;
    int32_t accepted = 0;
};

// What a runtime that computes one sequence at a time has to give; a WorkerSession does the rest. prefill, step, keep,
// configure and report are never called at once. Failures are exceptions.
class TokenSource {
  public:
    virtual ~TokenSource() = default;

    virtual Capabilities capabilities() const = 0;
    virtual int32_t vocabulary() const = 0;
    // Tokens that the sequence can hold.
    virtual int32_t context_size() const = 0;

    // Computes prompt tokens, at most a ubatch at once.
    virtual void prefill(const int32_t *ids, size_t count) = 0;
    // The next token of the sequence, which then holds it.
    virtual SourceStep step() = 0;
    // Forgets all but the first n_keep tokens; returns how many are left, 0 where no prefix can be kept.
    virtual int32_t keep(int32_t n_keep) = 0;
    // From any thread: what is being computed, also ahead of what was asked for, is not wanted any more.
    virtual void cancel() {}
    // For what is generated from here on; how long and until which text is the session's affair. Throws for what it cannot
    // give.
    virtual void configure(const GenerationOptions &options) = 0;
    // Tokens that prefill gets at once, so that a cancellation waits for few; 0: a ubatch.
    virtual size_t prefill_size() const { return 0; }

    // From any thread.
    virtual std::vector<int32_t> tokenize(std::string_view text, bool add_special, bool parse_special) const = 0;
    virtual std::string detokenize(const int32_t *ids, size_t count, bool special) const = 0;

    // A JSON object: runtimeVersion, device, model and whatever else is known.
    virtual std::string report() = 0;
};

// A session whose thread drives a source. The runtime's name goes into its report.
std::unique_ptr<LlmBackendSession> open_worker_session(const std::string &runtime, PollHub &hub,
                                                       std::unique_ptr<TokenSource> source,
                                                       const StreamOptions &options);

} // namespace eliza

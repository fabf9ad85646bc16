#include "runtimes/fake/fake-source.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include <nlohmann/json.hpp>

#include "error/failure.h"
#include "select/default-context.h"

namespace eliza {

namespace {

constexpr int32_t BEGIN = 256;
constexpr int32_t END = 257;

uint64_t hash_of(const std::vector<int32_t> &ids) {
    uint64_t hash = 0xcbf29ce484222325ull; // FNV-1a
    for (const int32_t id : ids) hash = (hash ^ static_cast<uint64_t>(id)) * 0x100000001b3ull;
    return hash ^ (hash >> 29);
}

// Bytes that the character at the end of the sequence still lacks, and the least of what may follow.
struct Unfinished {
    int missing = 0;
    uint8_t least = 0x80;
};

Unfinished unfinished(const std::vector<int32_t> &ids) {
    int continuations = 0;
    for (auto id = ids.rbegin(); id != ids.rend() && continuations < 4; ++id) {
        if (*id >= 0x80 && *id < 0xC0) {
            ++continuations;
            continue;
        }
        const int length = *id == 0xC3 ? 2 : *id == 0xE6 ? 3 : *id == 0xF0 ? 4 : 1;
        if (length - 1 <= continuations) return {};
        return {length - 1 - continuations, static_cast<uint8_t>(*id == 0xF0 && continuations == 0 ? 0x90 : 0x80)};
    }
    return {};
}

class FakeSource final : public TokenSource {
  public:
    FakeSource(FakeSpec spec, const eliza_llm_stream_config_t &config)
        : spec_(std::move(spec)), draft_(config.draft_max),
          context_(config.context_size > 0 ? config.context_size : default_context_size(spec_.trained_context)) {}

    Capabilities capabilities() const override { return spec_.capabilities; }
    int32_t vocabulary() const override { return END + 1; }
    int32_t context_size() const override { return context_; }

    void prefill(const int32_t *ids, size_t count) override { ids_.insert(ids_.end(), ids, ids + count); }

    SourceStep step() override {
        cancelled_ = false;
        const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(spec_.step_ms);
        while (!cancelled_ && std::chrono::steady_clock::now() < until) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        const auto length = static_cast<int32_t>(ids_.size());
        if (spec_.fail_after > 0 && length >= spec_.fail_after) {
            throw Failure(Code::NATIVE_FAULT, "the fake runtime failed as it was told to", "reset the stream");
        }
        SourceStep step;
        if (spec_.end_after > 0 && length >= spec_.end_after) {
            step.end = true;
            return step;
        }
        const uint64_t hash = hash_of(ids_);
        const Unfinished open = unfinished(ids_);
        constexpr uint8_t LEADS[] = {'a', 'e', 'i', 'n', 'o', 's', 't', ' ', '.', 0xC3, 0xE6, 0xF0};
        step.id = open.missing > 0 ? open.least + static_cast<int32_t>(hash % (0xC0u - open.least))
                                   : LEADS[hash % std::size(LEADS)];
        step.bytes = std::string(1, static_cast<char>(step.id));
        step.drafted = draft_;
        step.accepted = draft_ > 0 ? static_cast<int32_t>(hash % static_cast<uint64_t>(draft_ + 1)) : 0;
        ids_.push_back(step.id);
        return step;
    }

    int32_t keep(int32_t n_keep) override {
        ids_.resize(static_cast<size_t>(n_keep));
        return n_keep;
    }

    void cancel() override { cancelled_ = true; }
    void configure(const GenerationOptions &) override {}

    std::vector<int32_t> tokenize(std::string_view text, bool add_special, bool) const override {
        std::vector<int32_t> ids;
        if (add_special) ids.push_back(BEGIN);
        for (const char byte : text) ids.push_back(static_cast<uint8_t>(byte));
        return ids;
    }

    std::string detokenize(const int32_t *ids, size_t count, bool special) const override {
        std::string bytes;
        for (size_t i = 0; i < count; ++i) {
            if (ids[i] < BEGIN) bytes.push_back(static_cast<char>(ids[i]));
            if (ids[i] >= BEGIN && special) bytes += ids[i] == BEGIN ? "<begin>" : "<end>";
        }
        return bytes;
    }

    std::string report() override {
        return nlohmann::json{{"runtimeVersion", "1"},
                              {"device", "CPU"},
                              {"model",
                               {{"path", ""},
                                {"name", spec_.name},
                                {"architecture", "bytes"},
                                {"trainedContext", spec_.trained_context},
                                {"vocabulary", vocabulary()},
                                {"chatTemplate", ""},
                                {"bosToken", "<begin>"},
                                {"eosToken", "<end>"},
                                {"addBos", true}}}}
            .dump();
    }

  private:
    const FakeSpec spec_;
    const int32_t draft_;
    const int32_t context_;
    std::vector<int32_t> ids_;
    std::atomic<bool> cancelled_{false};
};

} // namespace

std::unique_ptr<TokenSource> make_fake_source(const FakeSpec &spec, const eliza_llm_stream_config_t &config) {
    return std::make_unique<FakeSource>(spec, config);
}

} // namespace eliza

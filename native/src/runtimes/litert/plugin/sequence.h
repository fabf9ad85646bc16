#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "eliza-runtime-plugin.h"
#include "runtimes/litert/plugin/decode-run.h"
#include "runtimes/litert/plugin/engine.h"

namespace eliza::litert {

// How tokens are drawn; the library fixes it when a session is made.
struct Sampling {
    float temperature = 0.0f; // <= 0: greedy
    float top_p = 0.0f;       // (0, 1); anything else: off
    int32_t top_k = 0;        // <= 0: off
    uint32_t seed = 0;

    bool greedy() const { return temperature <= 0.0f; }
};

// One sequence: a session of the library, and the ids that it stands for. The library takes and gives text alone, so ids of
// what it generated are those of the text (derived). What of the sequence the library surely holds in the same tokens is
// known; the rest is computed again before the sequence goes on.
class Sequence {
  public:
    Sequence(std::shared_ptr<Engine> engine, const Sampling &sampling, int32_t context_size);
    ~Sequence();

    int32_t context_size() const { return context_size_; }
    const Engine &engine() const { return *engine_; }

    void prefill(const int32_t *ids, size_t count);
    // False: the model ended its answer.
    bool step(eliza_plugin_token *token);
    int32_t keep(int32_t n_keep);
    void cancel();
    // Without a new seed draws go on where they are, unless how they are drawn changes.
    void set_sampling(const Sampling &sampling, bool new_seed);

  private:
    struct Token {
        int32_t id;
        std::string bytes;
    };

    void make_session();
    void delete_session();
    void take_turn();
    // With the turn: the library's sequence becomes ids_, without a character at the end that is cut off.
    void settle();
    void rewind(int32_t step);
    void feed(const int32_t *ids, size_t count);
    int32_t current_step() const;
    void start_run();
    void set_run(std::shared_ptr<DecodeRun> run);
    // Ends the run, if there is one; ids_ is then what was read of it.
    void stop_run();
    void take_text(const std::string &text);
    // What a run's end means; throws unless generation goes on or the answer ended (true).
    bool ended(const DecodeRun::Output &output);
    [[noreturn]] void lose(const std::string &doing);

    const std::shared_ptr<Engine> engine_;
    const LitertApi &api_;
    const int32_t context_size_;
    Sampling sampling_;

    void *session_ = nullptr;
    std::atomic<bool> cancelled_ = false;

    std::vector<int32_t> ids_;
    size_t held_ = 0;      // of ids_, how many the library holds in the same tokens
    bool moved_ = false;   // it stands elsewhere than after them
    int32_t lead_ = 0;     // tokens that it holds before ids_: its start token, where ids_ does not begin with it
    std::mutex run_mutex_; // guards run_ against cancel
    std::shared_ptr<DecodeRun> run_;
    size_t derived_ = 0;      // ids of the run's text
    std::deque<Token> ready_; // of these, what was not asked for yet
};

} // namespace eliza::litert

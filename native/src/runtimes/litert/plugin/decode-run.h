#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>

#include "runtimes/litert/plugin/engine.h"

namespace eliza::litert {

// One request to a session of the library to generate, and what its callback said. The library computes ahead of the
// reader on a thread of its own; a run stops by itself where the reader is far behind or another session waits for the
// engine. It holds the engine's turn from its start to its end.
class DecodeRun {
  public:
    enum class End { NONE, STOPPED, CANCELLED, CONTEXT_FULL, FAILED, SILENT };

    struct Output {
        std::string text; // of one or more tokens, whole characters
        End end = End::NONE;
        std::string error;
    };

    // `may_pause`: what is generated does not depend on where it is interrupted.
    DecodeRun(Engine &engine, void *session, bool may_pause)
        : engine_(engine), session_(session), may_pause_(may_pause) {}

    // The caller has the turn, which the run gives back when it ends. False, with the turn given back, if it does not start.
    bool start();
    // The next text, or how the run ended. SILENT: the library said nothing within the limit; it still runs.
    Output next();
    // From any thread, also after the end: it is to end, after its first text, since the library never answers a request
    // that is cancelled before it began.
    void request_cancel();
    // The same; waits for the end and forgets what was not read. False: the library said nothing within the limit.
    bool cancel();

  private:
    static void on_chunk(void *self, const void *chunk);
    void take_chunk(const void *chunk);

    Engine &engine_;
    void *const session_;
    const bool may_pause_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::string> texts_;
    size_t received_ = 0;
    bool cancel_requested_ = false;
    bool cancelling_ = false; // the library was told
    bool ended_ = false;
    std::string error_;
};

} // namespace eliza::litert

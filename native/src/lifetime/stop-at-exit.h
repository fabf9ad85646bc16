#pragma once

namespace eliza {

// Something with threads, or that threads wait in. It is stopped before the process's memory goes: static objects are
// destroyed while other threads run, and what computes then reads freed memory.
class Stoppable {
  public:
    virtual ~Stoppable() = default;
    // Returns when no thread of it runs any more, soon. For good; may be called twice, from any thread but its own.
    virtual void stop() = 0;
};

// From now on `what` is stopped at exit. The first call keeps the library in memory until the process ends, since a host
// may unload it (Node does when a worker ends) while its threads are parked in its code.
void stop_at_exit(Stoppable *what);
void forget_at_exit(Stoppable *what);

// Exit handlers run in the opposite order of static objects' construction. To be called after the runtime made some: what
// is stopped at exit is then stopped before they are destroyed. Takes no lock.
void renew_exit_handler();

// Stops all of them now. A forked child, in which their threads do not exist, is left alone.
void stop_everything();

} // namespace eliza

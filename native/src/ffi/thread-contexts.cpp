#include "ffi/thread-contexts.h"

#include <algorithm>
#include <mutex>
#include <thread>
#include <vector>

namespace eliza {

namespace {

struct Owned {
    std::thread::id owner;
    EliInferenceContext *ctx;
};

struct Ownerships {
    std::mutex mutex;
    std::vector<Owned> all;
};

// Never destroyed: the last threads of a process look into it.
Ownerships &ownerships() {
    static auto *const only = new Ownerships;
    return *only;
}

struct ThreadEnd {
    ~ThreadEnd() {
        std::vector<EliInferenceContext *> left;
        {
            const std::lock_guard lock(ownerships().mutex);
            std::erase_if(ownerships().all, [&](const Owned &owned) {
                if (owned.owner != std::this_thread::get_id()) return false;
                left.push_back(owned.ctx);
                return true;
            });
        }
        for (EliInferenceContext *ctx : left) eliza_inference_destroy(ctx);
    }
};

} // namespace

void end_with_thread(EliInferenceContext *ctx) {
    static thread_local ThreadEnd at_end;
    (void)at_end;
    const std::lock_guard lock(ownerships().mutex);
    ownerships().all.push_back({std::this_thread::get_id(), ctx});
}

void forget_with_thread(EliInferenceContext *ctx) {
    const std::lock_guard lock(ownerships().mutex);
    std::erase_if(ownerships().all, [&](const Owned &owned) { return owned.ctx == ctx; });
}

} // namespace eliza

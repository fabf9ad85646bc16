#include "lifetime/stop-at-exit.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <vector>

#if defined(_WIN32)
#include <windows.h>
#else
#include <dlfcn.h>
#include <unistd.h>
#endif

namespace eliza {

namespace {

struct Registry {
    std::recursive_mutex mutex;
    std::vector<Stoppable *> all;
#if !defined(_WIN32)
    pid_t process = 0;
#endif
};

// Never destroyed: exit handlers and late threads may ask for it.
Registry &registry() {
    static auto *const only = new Registry;
    return *only;
}

void keep_in_memory() {
#if defined(_WIN32)
    HMODULE module = nullptr;
    GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN,
                       reinterpret_cast<LPCSTR>(&keep_in_memory), &module);
#else
    Dl_info info{};
    if (dladdr(reinterpret_cast<void *>(&keep_in_memory), &info) != 0) {
        dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
    }
#endif
}

} // namespace

void stop_at_exit(Stoppable *what) {
    Registry &here = registry();
    const std::lock_guard lock(here.mutex);
    if (here.all.empty()) {
        keep_in_memory();
        renew_exit_handler();
#if !defined(_WIN32)
        here.process = getpid();
#endif
    }
    if (std::ranges::find(here.all, what) == here.all.end()) here.all.push_back(what);
}

void forget_at_exit(Stoppable *what) {
    const std::lock_guard lock(registry().mutex);
    std::erase(registry().all, what);
}

void renew_exit_handler() {
    static std::atomic<int> renewed{0}; // the first few models and contexts make what there is to make
    if (renewed.fetch_add(1) < 16) std::atexit(stop_everything);
}

void stop_everything() {
    Registry &here = registry();
#if !defined(_WIN32)
    if (here.process != getpid()) return;
#endif
    const std::lock_guard lock(here.mutex);
    for (Stoppable *what : here.all) what->stop();
}

} // namespace eliza

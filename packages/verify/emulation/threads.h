// GPU threads as fibers: what both shims build on. A kernel's file sees only this header; scheduler.h runs
// it.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <algorithm>
#include <type_traits>

namespace emulation {

struct Thread {
    uint32_t index; // in its threadgroup
    uint32_t lane;  // in its subgroup
    uint32_t subgroup;
};

extern Thread *current;
extern uint32_t subgroup_width;
extern uint32_t thread_count;
extern uint32_t group_position[3], group_count[3];

// A rendezvous: returns when every live thread of the scope has come.
void wait_for_group();
void wait_for_subgroup();

extern uint8_t slots[1024][16]; // one a thread, for subgroup operations

template <class T> void publish(T value) {
    static_assert(sizeof(T) <= 16);
    memcpy(slots[current->index], &value, sizeof value);
}

template <class T> T published(uint32_t lane) {
    T value;
    memcpy(&value, slots[current->subgroup * subgroup_width + lane], sizeof value);
    return value;
}

inline uint32_t lanes() { return std::min(subgroup_width, thread_count - current->subgroup * subgroup_width); }

// Everybody publishes, meets, reads, and meets again so that no slot is overwritten too early.
template <class T, class Read> auto exchange(T value, Read read) {
    publish(value);
    wait_for_subgroup();
    auto result = read();
    wait_for_subgroup();
    return result;
}

template <class T, class Fold> T reduce(T value, Fold fold) {
    return exchange(value, [&] {
        T total = published<T>(0);
        for (uint32_t lane = 1; lane < lanes(); lane++) total = fold(total, published<T>(lane));
        return total;
    });
}

} // namespace emulation

// Threadgroup variables lie in one section, so that the scheduler can poison them before each group.
#define EMULATION_THREADGROUP static __attribute__((section("threadgroup_memory")))

// Runs a kernel's threadgroups one after another, each of its threads on a fiber. Included after the kernel.
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <vector>
#include "threads.h"
#if !defined(__x86_64__)
#include <ucontext.h>
#endif

extern char __start_threadgroup_memory[] __attribute__((weak));
extern char __stop_threadgroup_memory[] __attribute__((weak));

namespace emulation {

Thread *current;
uint32_t subgroup_width = 32, thread_count;
uint32_t group_position[3], group_count[3];
alignas(16) uint8_t slots[1024][16];

enum class State { ready, at_group_barrier, at_subgroup_barrier, finished };
constexpr size_t STACK_BYTES = 64 << 10;

struct Fiber {
    Thread thread;
    State state;
    char *stack;
#if defined(__x86_64__)
    void *context;
#else
    ucontext_t context;
#endif
};

static std::vector<Fiber> fibers;
static Fiber *running;
static void (*body)();

#if defined(__x86_64__)
static void *scheduler_context;
extern "C" void emulation_switch(void **from, void *to);
asm(R"(
.text
.globl emulation_switch
.hidden emulation_switch
emulation_switch:
    push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15
    mov %rsp, (%rdi)
    mov %rsi, %rsp
    pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp
    ret
)");
static void suspend(State state) {
    running->state = state;
    emulation_switch(&running->context, scheduler_context);
}
static void resume(Fiber &fiber) { emulation_switch(&scheduler_context, fiber.context); }
#else
static ucontext_t scheduler_context;
static void suspend(State state) {
    running->state = state;
    swapcontext(&running->context, &scheduler_context);
}
static void resume(Fiber &fiber) { swapcontext(&scheduler_context, &fiber.context); }
#endif

static void enter() {
    body();
    suspend(State::finished);
}

static void prepare(Fiber &fiber, uint32_t index) {
    fiber.thread = {index, index % subgroup_width, index / subgroup_width};
    fiber.state = State::ready;
#if defined(__x86_64__)
    void **top = (void **)(fiber.stack + STACK_BYTES - 64);
    *--top = nullptr; // keeps the stack aligned as a call would
    *--top = (void *)enter;
    fiber.context = top - 6;
#else
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack;
    fiber.context.uc_stack.ss_size = STACK_BYTES;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, enter, 0);
#endif
}

void wait_for_group() { suspend(State::at_group_barrier); }
void wait_for_subgroup() { suspend(State::at_subgroup_barrier); }

// Order 0 is forward, 1 backward, any other a seed.
static uint32_t position(uint32_t step, uint32_t count, uint32_t order, uint32_t turn) {
    if (order == 1) return count - 1 - step;
    return order == 0 ? step : (step + turn) % count;
}

// Runs one subgroup alone for as long as it gets, so that nothing but a group barrier orders it against
// another.
static void run_subgroup(uint32_t first, uint32_t width, uint32_t order, uint32_t turn) {
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t step = 0; step < width; step++) {
            Fiber &fiber = fibers[first + position(step, width, order, turn)];
            if (fiber.state != State::ready) continue;
            moved = true;
            running = &fiber;
            current = &fiber.thread;
            resume(fiber);
        }
        uint32_t waiting = 0, finished = 0;
        for (uint32_t i = 0; i < width; i++) {
            waiting += fibers[first + i].state == State::at_subgroup_barrier;
            finished += fibers[first + i].state == State::finished;
        }
        if (waiting == 0 || waiting + finished < width) continue;
        moved = true;
        for (uint32_t i = 0; i < width; i++) {
            Fiber &fiber = fibers[first + i];
            if (fiber.state == State::at_subgroup_barrier) fiber.state = State::ready;
        }
    }
}

static int run_group(uint32_t order, char *message, size_t capacity) {
    if (__start_threadgroup_memory)
        memset(__start_threadgroup_memory, 0xff, size_t(__stop_threadgroup_memory - __start_threadgroup_memory));
    for (uint32_t i = 0; i < thread_count; i++) prepare(fibers[i], i);
    const uint32_t subgroups = (thread_count + subgroup_width - 1) / subgroup_width;
    for (uint32_t turn = order;; turn = turn * 1664525 + 1013904223) {
        for (uint32_t step = 0; step < subgroups; step++) {
            const uint32_t first = position(step, subgroups, order, turn >> 8) * subgroup_width;
            run_subgroup(first, std::min(subgroup_width, thread_count - first), order, turn >> 16);
        }
        uint32_t waiting = 0, finished = 0;
        for (uint32_t i = 0; i < thread_count; i++) {
            waiting += fibers[i].state == State::at_group_barrier;
            finished += fibers[i].state == State::finished;
        }
        if (finished == thread_count) return 0;
        if (waiting < thread_count) {
            snprintf(message, capacity, "divergent barrier: %u of %u threads wait, %u have left", waiting, thread_count,
                     finished);
            return 1;
        }
        for (uint32_t i = 0; i < thread_count; i++) fibers[i].state = State::ready;
    }
}

// Runs the whole grid with `work` as the body of a thread. Returns 0, or 1 with a message.
static int run_grid(void (*work)(), const uint32_t *grid, uint32_t threads, uint32_t width, uint32_t order,
                    void *dynamic_memory, size_t dynamic_bytes, char *message, size_t capacity) {
    if (threads == 0 || threads > 1024 || width == 0) {
        snprintf(message, capacity, "%u threads of subgroups of %u", threads, width);
        return 1;
    }
    body = work;
    thread_count = threads;
    subgroup_width = width;
    while (fibers.size() < threads) {
        Fiber fiber{};
        fiber.stack = (char *)aligned_alloc(64, STACK_BYTES);
        fibers.push_back(fiber);
    }
    memcpy(group_count, grid, sizeof group_count);
    for (uint32_t z = 0; z < grid[2]; z++)
        for (uint32_t y = 0; y < grid[1]; y++)
            for (uint32_t x = 0; x < grid[0]; x++) {
                group_position[0] = x;
                group_position[1] = y;
                group_position[2] = z;
                if (dynamic_bytes) memset(dynamic_memory, 0xff, dynamic_bytes);
                if (run_group(order, message, capacity)) return 1;
            }
    return 0;
}

} // namespace emulation

#include "streaming/output-queue.h"

#include <thread>

#include "check.h"

using eliza::OutputQueue;
using eliza::PollHub;

namespace {

EliLlmStream *handle(uintptr_t value) { return reinterpret_cast<EliLlmStream *>(value); }

struct Read {
    int status;
    size_t count;
    std::string text;
    std::string error;
};

Read read(OutputQueue &queue, bool wait = false, size_t tokens_cap = 8, size_t text_cap = 64) {
    int32_t tokens[8];
    char text[64];
    Read result{};
    eliza::NextOutput output{tokens, tokens_cap, 0, text, text_cap};
    result.status = queue.take(wait, &output, &result.error);
    result.count = output.count;
    result.text = text;
    return result;
}

} // namespace

TEST("next takes as many tokens as fit, and is final with the last") {
    PollHub hub;
    OutputQueue queue(hub, 16);
    queue.expect();
    queue.push({1, "one "});
    queue.push({2, "two"});
    const Read first = read(queue, false, 1);
    EXPECT(first.status == 0 && first.count == 1 && first.text == "one ");
    queue.finish(0, "", "");
    const Read last = read(queue);
    EXPECT(last.status == 1 && last.count == 1 && last.text == "two");
    EXPECT(read(queue).status == 1);
}

TEST("a text buffer that is too small consumes nothing") {
    PollHub hub;
    OutputQueue queue(hub, 16);
    queue.expect();
    queue.push({1, "abcdef"});
    const Read small = read(queue, false, 8, 6);
    EXPECT(small.status == ELIZA_ERR_INVALID_ARG && small.count == 0 && !small.error.empty());
    EXPECT(read(queue, false, 8, 7).text == "abcdef");
}

TEST("tokens come before the error that ended them") {
    PollHub hub;
    OutputQueue queue(hub, 16);
    queue.expect();
    queue.push({1, "x"});
    queue.finish(ELIZA_ERR_FFI_FAULT, "", "NATIVE_FAULT: it broke");
    EXPECT(read(queue).status == 0);
    const Read failed = read(queue);
    EXPECT(failed.status == ELIZA_ERR_FFI_FAULT && failed.error == "NATIVE_FAULT: it broke");
}

TEST("nothing to generate from is an error, not a wait for ever") {
    PollHub hub;
    OutputQueue queue(hub, 16);
    EXPECT(read(queue, true).status == ELIZA_ERR_INVALID_ARG);
}

TEST("cancel wins over queued tokens, wakes a reader, and holds until restart") {
    PollHub hub;
    OutputQueue queue(hub, 16);
    queue.expect();
    std::thread cancels([&] { queue.cancel(); });
    EXPECT(read(queue, true).status == ELIZA_ERR_CANCELLED);
    cancels.join();
    queue.push({1, "late"});
    EXPECT(read(queue).status == ELIZA_ERR_CANCELLED);
    queue.restart();
    queue.expect();
    EXPECT(read(queue).status == 2);
}

TEST("poll tells of a stream once, and again only after its reader came up empty") {
    PollHub hub;
    OutputQueue a(hub, 16);
    OutputQueue b(hub, 16);
    a.set_owner(handle(1));
    b.set_owner(handle(2));
    hub.add(&a);
    hub.add(&b);
    EliLlmStream *streams[4];
    a.expect();
    b.expect();
    EXPECT(hub.wait(streams, 4, 0) == 0);
    a.push({1, "x"});
    EXPECT(hub.wait(streams, 4, -1) == 1 && streams[0] == handle(1));
    EXPECT(hub.wait(streams, 4, 0) == 0); // told already, though unread
    EXPECT(read(a).status == 0);
    a.push({2, "y"});
    EXPECT(hub.wait(streams, 4, 0) == 0);
    EXPECT(read(a).status == 0);
    EXPECT(read(a).status == 2);
    a.push({3, "z"});
    b.finish(0, "", "");
    EXPECT(hub.wait(streams, 4, -1) == 2);
    hub.remove(&a);
    hub.remove(&b);
}

TEST("wake ends a poll without streams") {
    PollHub hub;
    EliLlmStream *streams[1];
    std::thread wakes([&] { hub.wake(); });
    EXPECT(hub.wait(streams, 1, -1) == 0);
    wakes.join();
}

#include "streaming/prompt-rules.h"

#include <string>

#include "error/failure.h"

namespace eliza {

namespace {

[[noreturn]] void invalid(const std::string &message, const std::string &hint) {
    throw Failure(Code::INVALID_ARGUMENT, message, hint);
}

} // namespace

void check_prompt(const int32_t *ids, size_t count, const PromptState &state) {
    if (ids == nullptr || count == 0) invalid("the prompt is empty", "prefill at least one token");
    for (size_t i = 0; i < count; ++i) {
        if (ids[i] >= 0 && ids[i] < state.vocabulary) continue;
        invalid("token " + std::to_string(i) + " is " + std::to_string(ids[i]) + ", the vocabulary has " +
                    std::to_string(state.vocabulary),
                "tokenize the text with this stream");
    }
    if (state.cancelled) {
        throw Failure(Code::CANCELLED, "the stream was cancelled", "reset it before it is used again");
    }
    if (state.generating) invalid("a generation is running", "take its output to the end, or reset the stream");
    if (state.asked_for) {
        invalid("the prompt is complete and its answer was asked for",
                "hand a prompt over before the first next, and in one call with run_ahead");
    }
    const auto room = static_cast<size_t>(state.context_size - state.planned);
    // One cell stays for the first generated token.
    if (count + 1 <= room) return;
    throw Failure(Code::CONTEXT_FULL,
                  std::to_string(count) + " prompt tokens do not fit the " + std::to_string(room) + " of " +
                      std::to_string(state.context_size) + " that are left",
                  "shorten the prompt, or open the stream with a larger context");
}

} // namespace eliza

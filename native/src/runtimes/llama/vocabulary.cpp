#include "runtimes/llama/vocabulary.h"

#include "error/failure.h"
#include "streaming/utf8.h"

namespace eliza {

namespace {

constexpr size_t MOST_BYTES = size_t{1} << 30;

// llama.cpp asserts that a model which is asked for text has a tokenizer.
void check_tokenizer(const llama_vocab *vocab) {
    if (llama_vocab_type(vocab) != LLAMA_VOCAB_TYPE_NONE) return;
    throw Failure(Code::NOT_IMPLEMENTED, "the model has no tokenizer", "hand it token ids");
}

} // namespace

std::vector<int32_t> tokenize(const llama_vocab *vocab, const char *text, size_t bytes, bool add_special,
                              bool parse_special) {
    check_tokenizer(vocab);
    if (bytes > MOST_BYTES) {
        throw Failure(Code::INVALID_ARGUMENT, "the text has more than 1 GiB", "tokenize it in parts");
    }
    std::vector<int32_t> ids(bytes + 2);
    const auto into = [&] {
        return llama_tokenize(vocab, text, static_cast<int32_t>(bytes), ids.data(), static_cast<int32_t>(ids.size()),
                              add_special, parse_special);
    };
    int32_t count = into();
    if (count < 0) {
        ids.resize(static_cast<size_t>(-count));
        count = into();
    }
    ids.resize(static_cast<size_t>(count));
    return ids;
}

std::string detokenize(const llama_vocab *vocab, const int32_t *ids, size_t count, bool special) {
    check_tokenizer(vocab);
    check_tokens(vocab, ids, count);
    if (count > MOST_BYTES / 16) {
        throw Failure(Code::INVALID_ARGUMENT, "there are " + std::to_string(count) + " tokens", "turn them in parts");
    }
    std::string bytes(count * 8 + 16, '\0');
    const auto into = [&] {
        return llama_detokenize(vocab, ids, static_cast<int32_t>(count), bytes.data(),
                                static_cast<int32_t>(bytes.size()), false, special);
    };
    int32_t length = into();
    if (length < 0) {
        bytes.resize(static_cast<size_t>(-length));
        length = into();
    }
    bytes.resize(static_cast<size_t>(length));
    Utf8Assembler utf8;
    return utf8.push(bytes) + utf8.flush();
}

void check_tokens(const llama_vocab *vocab, const int32_t *ids, size_t count) {
    const int32_t vocabulary = llama_vocab_n_tokens(vocab);
    for (size_t i = 0; i < count; ++i) {
        if (ids[i] >= 0 && ids[i] < vocabulary) continue;
        throw Failure(Code::INVALID_ARGUMENT,
                      "token " + std::to_string(i) + " is " + std::to_string(ids[i]) + ", the vocabulary has " +
                          std::to_string(vocabulary),
                      "take ids from this model's tokenizer");
    }
}

} // namespace eliza

#include "runtimes/llama/grammar.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "error/failure.h"
#include "runtimes/llama/log-capture.h"

namespace eliza {

namespace {

constexpr size_t MOST_BYTES = 256 << 10;
constexpr size_t MOST_RULES = 4000;
constexpr size_t MOST_DEPTH = 64;

[[noreturn]] void refuse_grammar(const std::string &reason) {
    throw Failure(Code::INVALID_ARGUMENT, "the grammar " + reason,
                  "give GBNF whose first rule is called root, such as: root ::= \"yes\" | \"no\"");
}

// llama.cpp's parser repeats {3,1} for ever.
void check_repeats(const std::string &text, size_t brace) {
    size_t at = brace + 1;
    const auto read = [&](int64_t otherwise) {
        while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at]))) ++at;
        if (at >= text.size() || !std::isdigit(static_cast<unsigned char>(text[at]))) return otherwise;
        int64_t value = 0;
        for (; at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])); ++at) {
            value = std::min<int64_t>(value * 10 + (text[at] - '0'), INT32_MAX);
        }
        while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at]))) ++at;
        return value;
    };
    const int64_t least = read(0);
    if (at >= text.size() || text[at] != ',') return;
    ++at;
    const int64_t most = read(INT64_MAX);
    if (most >= least) return;
    refuse_grammar("repeats something {" + std::to_string(least) + "," + std::to_string(most) + "} times");
}

// llama.cpp's parser calls itself for every bracket and its search for left recursion for every rule.
void check_size(const std::string &text) {
    if (text.size() > MOST_BYTES) {
        refuse_grammar("has " + std::to_string(text.size()) + " bytes, at most " + std::to_string(MOST_BYTES) + " do");
    }
    size_t rules = 0, depth = 0;
    char quote = '\0'; // what ends the literal, the character class or the comment that the text is in
    for (size_t i = 0; i < text.size(); ++i) {
        const char letter = text[i];
        if (letter == '\0') refuse_grammar("holds the character U+0000");
        if (quote != '\0') {
            if (letter == '\\' && quote != '\n')
                ++i;
            else if (letter == quote)
                quote = '\0';
            continue;
        }
        if (letter == '"') quote = '"';
        if (letter == '[') quote = ']';
        if (letter == '#') quote = '\n';
        if (letter == '{') check_repeats(text, i);
        if (letter == '(' && ++depth > MOST_DEPTH) {
            refuse_grammar("has more than " + std::to_string(MOST_DEPTH) + " brackets inside each other");
        }
        if (letter == ')' && depth > 0) --depth;
        if (text.compare(i, 3, "::=") == 0 && ++rules > MOST_RULES) {
            refuse_grammar("has more than " + std::to_string(MOST_RULES) + " rules");
        }
    }
}

} // namespace

Grammar::Grammar(const llama_vocab *vocab, const std::string &text) {
    check_size(text);
    take_llama_errors();
    try {
        sampler_.reset(llama_sampler_init_grammar(vocab, text.c_str(), "root"));
    } catch (const std::exception &error) {
        refuse_grammar(std::string("is not understood: ") + error.what());
    }
    if (sampler_ == nullptr) {
        std::string why = take_llama_errors();
        while (!why.empty() && why.back() == '\n') why.pop_back();
        std::ranges::replace(why, '\n', ' ');
        refuse_grammar("is not understood" + (why.empty() ? "" : ": " + why));
    }
}

bool Grammar::allows(llama_token token) const {
    llama_token_data one{token, 1.0f, 0.0f};
    llama_token_data_array array{&one, 1, -1, false};
    llama_sampler_apply(sampler_.get(), &array);
    return one.logit != -INFINITY;
}

bool Grammar::mask(std::vector<llama_token_data> &candidates) const {
    llama_token_data_array array{candidates.data(), candidates.size(), -1, false};
    llama_sampler_apply(sampler_.get(), &array);
    return std::ranges::any_of(candidates, [](const llama_token_data &each) { return each.logit != -INFINITY; });
}

} // namespace eliza

#include "runtimes/litert/plugin/prompt-text.h"

#include <algorithm>

#include "error/failure.h"
#include "streaming/utf8.h"

namespace eliza::litert {

namespace {

// The library ends the process on text that is no UTF-8.
bool is_utf8(std::string_view text) {
    Utf8Assembler utf8;
    return utf8.push(text) + utf8.flush() == text;
}

void check_text(std::string_view text) {
    if (text.find('\0') == std::string_view::npos && is_utf8(text)) return;
    throw Failure(Code::INVALID_ARGUMENT, "the text is no UTF-8, or has the character U+0000",
                  "pass UTF-8 without U+0000");
}

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

bool begins_character(const std::string &bytes) { return bytes.empty() || !continues_character(bytes.front()); }

class TextFinder {
  public:
    explicit TextFinder(const Engine &engine) : engine_(engine) {}

    void add(const int32_t *ids, size_t count) {
        if (count == 0) return;
        const std::string text = spelled(ids, count);
        if (is_utf8(text) && engine_.tokenize(text) == std::vector<int32_t>(ids, ids + count)) {
            texts_.push_back(text);
            return;
        }
        const size_t cut = cut_near(ids, count);
        if (cut == 0) {
            throw Failure(Code::INVALID_ARGUMENT,
                          "no text becomes the token " + std::to_string(ids[0]) + " and the " +
                              std::to_string(count - 1) + " after it",
                          "LiteRT-LM takes text alone: pass ids as this stream's tokenize gives them");
        }
        add(ids, cut);
        add(ids + cut, count - cut);
    }
    std::vector<std::string> take() { return std::move(texts_); }

  private:
    std::string spelled(const int32_t *ids, size_t count) const {
        std::string text;
        for (size_t i = 0; i < count; ++i) text += engine_.vocabulary.bytes(ids[i]);
        return text;
    }
    // The place nearest the middle where a character begins; 0 if there is none.
    size_t cut_near(const int32_t *ids, size_t count) const {
        const auto fits = [&](size_t at) {
            return at > 0 && at < count && begins_character(engine_.vocabulary.bytes(ids[at]));
        };
        for (size_t distance = 0; distance <= count / 2 + 1; ++distance) {
            if (fits(count / 2 + distance)) return count / 2 + distance;
            if (count / 2 >= distance && fits(count / 2 - distance)) return count / 2 - distance;
        }
        return 0;
    }

    const Engine &engine_;
    std::vector<std::string> texts_;
};

} // namespace

std::vector<int32_t> tokens_of(const Engine &engine, std::string_view text, bool add_special, bool parse_special) {
    check_text(text);
    std::vector<int32_t> ids;
    if (add_special && engine.start_token() >= 0) ids.push_back(engine.start_token());
    const auto add = [&](std::string_view piece) {
        const std::vector<int32_t> more = engine.tokenize(std::string(piece));
        ids.insert(ids.end(), more.begin(), more.end());
    };
    size_t from = 0;
    while (!parse_special && from < text.size()) {
        // A marker that is cut after its first character is none any more.
        size_t length = 0;
        const size_t marker = engine.vocabulary.find_marker(text, from, &length);
        if (marker == std::string_view::npos) break;
        size_t cut = marker + 1;
        while (cut < text.size() && continues_character(text[cut])) ++cut;
        add(text.substr(from, cut - from));
        from = cut;
    }
    add(text.substr(from));
    return ids;
}

size_t whole_characters(const Engine &engine, const int32_t *ids, size_t count) {
    Utf8Assembler utf8;
    size_t whole = 0;
    for (size_t i = 0; i < count; ++i) {
        utf8.push(engine.vocabulary.bytes(ids[i]));
        if (!utf8.pending()) whole = i + 1;
    }
    return whole;
}

std::vector<std::string> texts_for(const Engine &engine, const int32_t *ids, size_t count) {
    TextFinder finder(engine);
    size_t from = 0;
    for (size_t i = 0; i < count; ++i) {
        if (!engine.vocabulary.is_control(ids[i])) continue;
        finder.add(ids + from, i - from);
        finder.add(ids + i, 1);
        from = i + 1;
    }
    finder.add(ids + from, count - from);
    return finder.take();
}

} // namespace eliza::litert

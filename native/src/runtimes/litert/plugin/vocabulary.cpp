#include "runtimes/litert/plugin/vocabulary.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include <nlohmann/json.hpp>

#include "error/failure.h"
#include "runtimes/litert/plugin/inflate.h"
#include "runtimes/litert/plugin/wire-format.h"

namespace eliza::litert {

namespace {

using nlohmann::json;

constexpr uint64_t LARGEST_TOKENIZER = 128 << 20;
constexpr int32_t LARGEST_ID = 4'000'000;

[[noreturn]] void invalid(const ModelFile &model, const std::string &why) {
    throw Failure(Code::MODEL_INVALID, model.path + ": its tokenizer " + why, "fetch the file again");
}

[[noreturn]] void unknown_kind(const ModelFile &model, const std::string &kind) {
    throw Failure(Code::NOT_IMPLEMENTED, model.path + ": tokenizers that decode with " + kind + " are not supported",
                  "use a model with a byte-level or a SentencePiece tokenizer");
}

void append_utf8(std::string *text, uint32_t code) {
    if (code < 0x80) {
        *text += static_cast<char>(code);
    } else if (code < 0x800) {
        *text += static_cast<char>(0xC0 | code >> 6);
        *text += static_cast<char>(0x80 | (code & 0x3F));
    }
}

// The characters by which byte-level tokenizers write bytes: printable ones of Latin-1 stand for themselves, the others in
// order for U+0100 and following (Radford et al. 2019, GPT-2).
std::unordered_map<std::string, char> byte_letters() {
    std::unordered_map<std::string, char> letters;
    uint32_t next = 0x100;
    for (uint32_t byte = 0; byte < 256; ++byte) {
        const bool printable = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
        std::string letter;
        append_utf8(&letter, printable ? byte : next++);
        letters[letter] = static_cast<char>(byte);
    }
    return letters;
}

size_t character_length(unsigned char first) {
    if (first < 0x80) return 1;
    return first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

std::string from_byte_letters(const std::string &token) {
    static const std::unordered_map<std::string, char> letters = byte_letters();
    std::string bytes;
    for (size_t at = 0; at < token.size();) {
        const std::string letter = token.substr(at, character_length(static_cast<unsigned char>(token[at])));
        at += letter.size();
        const auto found = letters.find(letter);
        if (found == letters.end()) return token; // not written in these letters: the token stands for itself
        bytes += found->second;
    }
    return bytes;
}

// "<0xE6>" of tokenizers that fall back to bytes.
std::optional<char> byte_token(const std::string &token) {
    if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return {};
    unsigned value = 0;
    for (const char c : token.substr(3, 2)) {
        const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
        if (digit < 0) return {};
        value = value * 16 + static_cast<unsigned>(digit);
    }
    return static_cast<char>(value);
}

std::string from_sentencepiece(const std::string &piece) {
    if (const auto byte = byte_token(piece)) return std::string(1, *byte);
    constexpr std::string_view SPACE = "\u2581";
    std::string text = piece;
    for (size_t at = text.find(SPACE); at != std::string::npos; at = text.find(SPACE, at + 1)) {
        text.replace(at, SPACE.size(), " ");
    }
    return text;
}

// How a tokenizer.json decodes: its decoder's type, or those of a sequence.
std::vector<std::string> decoder_types(const json &decoder) {
    std::vector<std::string> types;
    const std::string type = decoder.value("type", "");
    if (type != "Sequence") return {type};
    for (const json &each : decoder.value("decoders", json::array())) {
        for (const std::string &inner : decoder_types(each)) types.push_back(inner);
    }
    return types;
}

} // namespace

Vocabulary Vocabulary::read(const ModelFile &model) {
    if (const Section *section = model.find(SectionKind::HF_TOKENIZER_ZLIB)) {
        const std::string bytes = model.bytes_of(*section, LARGEST_TOKENIZER);
        uint64_t size = 0;
        if (bytes.size() < sizeof(size)) invalid(model, "is cut off");
        std::memcpy(&size, bytes.data(), sizeof(size));
        if (size > LARGEST_TOKENIZER) invalid(model, "is said to have " + std::to_string(size) + " bytes");
        const auto text = inflate_zlib(bytes.substr(sizeof(size)), size);
        if (!text || text->size() != size) invalid(model, "cannot be unpacked");
        return of_hugging_face(model, *text);
    }
    if (const Section *section = model.find(SectionKind::SP_TOKENIZER)) {
        return of_sentencepiece(model, model.bytes_of(*section, LARGEST_TOKENIZER));
    }
    invalid(model, "is missing");
}

Vocabulary Vocabulary::of_hugging_face(const ModelFile &model, const std::string &text) {
    Vocabulary vocabulary;
    try {
        const json parsed = json::parse(text);
        const auto types = decoder_types(parsed.value("decoder", json::object()));
        const bool byte_level = std::ranges::count(types, "ByteLevel") > 0;
        const bool pieces = std::ranges::count(types, "ByteFallback") + std::ranges::count(types, "Metaspace") > 0;
        if (!byte_level && !pieces) unknown_kind(model, types.front().empty() ? "no decoder" : types.front());
        for (const auto &[token, id] : parsed.at("model").at("vocab").items()) {
            vocabulary.set(id.get<int32_t>(), byte_level ? from_byte_letters(token) : from_sentencepiece(token), false);
        }
        for (const json &token : parsed.value("added_tokens", json::array())) {
            vocabulary.set(token.at("id").get<int32_t>(), token.at("content").get<std::string>(),
                           token.value("special", false));
        }
    } catch (const json::exception &error) {
        invalid(model, std::string("is no tokenizer.json: ") + error.what());
    } catch (const std::out_of_range &error) {
        invalid(model, error.what());
    }
    vocabulary.finish();
    return vocabulary;
}

Vocabulary Vocabulary::of_sentencepiece(const ModelFile &model, const std::string &proto) {
    // ModelProto.pieces, and SentencePiece's piece and type.
    constexpr uint32_t PIECES = 1, PIECE = 1, TYPE = 3;
    constexpr uint64_t UNKNOWN = 2, CONTROL = 3;
    Vocabulary vocabulary;
    try {
        int32_t id = 0;
        read_message(proto, [&](const WireField &found) {
            if (found.number != PIECES) return;
            std::string piece;
            uint64_t type = 1;
            read_message(found.bytes, [&](const WireField &inner) {
                if (inner.number == PIECE) piece = inner.bytes;
                if (inner.number == TYPE) type = inner.integer;
            });
            const bool control = type == UNKNOWN || type == CONTROL;
            vocabulary.set(id++, control ? piece : from_sentencepiece(piece), control);
        });
    } catch (const std::out_of_range &error) {
        invalid(model, error.what());
    }
    vocabulary.finish();
    return vocabulary;
}

void Vocabulary::set(int32_t id, std::string bytes, bool control) {
    if (id < 0 || id > LARGEST_ID) throw std::out_of_range("has a token with the id " + std::to_string(id));
    if (id >= size()) {
        bytes_.resize(static_cast<size_t>(id) + 1);
        control_.resize(static_cast<size_t>(id) + 1);
    }
    bytes_[static_cast<size_t>(id)] = std::move(bytes);
    control_[static_cast<size_t>(id)] = control;
}

void Vocabulary::finish() {
    for (int32_t id = 0; id < size(); ++id) {
        if (!is_control(id) || bytes(id).empty()) continue;
        controls_.push_back(id);
        by_marker_.emplace(bytes(id), id);
    }
}

int32_t Vocabulary::control_of(std::string_view marker) const {
    const auto found = by_marker_.find(std::string(marker));
    return found == by_marker_.end() ? -1 : found->second;
}

size_t Vocabulary::find_marker(std::string_view text, size_t from, size_t *length) const {
    size_t first = std::string_view::npos;
    *length = 0;
    for (const int32_t id : controls_) {
        const std::string &marker = bytes(id);
        const size_t at = text.find(marker, from);
        if (at == std::string_view::npos) continue;
        if (at < first || (at == first && marker.size() > *length)) {
            first = at;
            *length = marker.size();
        }
    }
    return first;
}

} // namespace eliza::litert

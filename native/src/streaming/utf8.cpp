#include "streaming/utf8.h"

#include <cstddef>
#include <cstdint>

namespace eliza {

namespace {

constexpr std::string_view REPLACEMENT = "\xEF\xBF\xBD";

// Length of the sequence that this byte begins, 0 if it begins none.
size_t sequence_length(uint8_t lead) {
    if (lead < 0x80) return 1;
    if (lead >= 0xC2 && lead <= 0xDF) return 2;
    if (lead >= 0xE0 && lead <= 0xEF) return 3;
    if (lead >= 0xF0 && lead <= 0xF4) return 4;
    return 0;
}

// Whether byte may stand at this place of a sequence (Unicode 15, table 3-7: no overlong forms, no surrogates).
bool continues(uint8_t lead, size_t place, uint8_t byte) {
    if (place == 1) {
        if (lead == 0xE0) return byte >= 0xA0 && byte <= 0xBF;
        if (lead == 0xED) return byte >= 0x80 && byte <= 0x9F;
        if (lead == 0xF0) return byte >= 0x90 && byte <= 0xBF;
        if (lead == 0xF4) return byte >= 0x80 && byte <= 0x8F;
    }
    return byte >= 0x80 && byte <= 0xBF;
}

} // namespace

std::string Utf8Assembler::push(std::string_view bytes) {
    pending_.append(bytes);
    std::string out;
    size_t at = 0;
    while (at < pending_.size()) {
        const auto lead = static_cast<uint8_t>(pending_[at]);
        const size_t length = sequence_length(lead);
        if (length == 0) {
            out += REPLACEMENT;
            at += 1;
            continue;
        }
        size_t have = 1;
        while (have < length && at + have < pending_.size() &&
               continues(lead, have, static_cast<uint8_t>(pending_[at + have]))) {
            have += 1;
        }
        if (have == length) {
            out.append(pending_, at, length);
        } else if (at + have == pending_.size()) {
            break; // may yet be completed
        } else {
            out += REPLACEMENT;
        }
        at += have;
    }
    pending_.erase(0, at);
    return out;
}

std::string Utf8Assembler::flush() {
    if (pending_.empty()) return {};
    pending_.clear();
    return std::string(REPLACEMENT);
}

} // namespace eliza

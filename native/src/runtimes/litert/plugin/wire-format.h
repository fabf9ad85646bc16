#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string_view>

namespace eliza::litert {

// One field of a protobuf message as it lies in the file. https://protobuf.dev/programming-guides/encoding/
struct WireField {
    uint32_t number = 0;
    uint64_t integer = 0;   // of a varint or fixed field
    std::string_view bytes; // of a length-delimited one: text or a message
};

// Calls `take` for every field. Throws std::out_of_range for bytes that are no message.
inline void read_message(std::string_view message, const std::function<void(const WireField &)> &take) {
    size_t at = 0;
    const auto varint = [&] {
        uint64_t value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            if (at >= message.size()) throw std::out_of_range("a message that ends inside a number");
            const auto byte = static_cast<unsigned char>(message[at++]);
            value |= static_cast<uint64_t>(byte & 0x7F) << shift;
            if (byte < 0x80) return value;
        }
        throw std::out_of_range("a number of more than 64 bits");
    };
    const auto bytes = [&](uint64_t size) {
        if (size > message.size() - at) throw std::out_of_range("a field that is longer than its message");
        const std::string_view found = message.substr(at, size);
        at += size;
        return found;
    };
    while (at < message.size()) {
        const uint64_t key = varint();
        WireField field;
        field.number = static_cast<uint32_t>(key >> 3);
        switch (key & 7) {
        case 0:
            field.integer = varint();
            break;
        case 1:
            bytes(8);
            break;
        case 2:
            field.bytes = bytes(varint());
            break;
        case 5:
            bytes(4);
            break;
        default:
            throw std::out_of_range("a field of a kind that is not known");
        }
        take(field);
    }
}

} // namespace eliza::litert

#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace eliza::litert {

// A table inside a FlatBuffers buffer that nobody vouches for. Every read is checked against the buffer; what is out of
// bounds is std::out_of_range. Layout: https://flatbuffers.dev/internals/
class FlatTable {
  public:
    static FlatTable root(const std::string &buffer) {
        const Bytes bytes{&buffer};
        return FlatTable(bytes, bytes.offset(0));
    }

    bool has(size_t field) const { return field_at(field) != 0; }
    uint64_t u64(size_t field) const {
        const size_t at = field_at(field);
        return at == 0 ? 0 : bytes_.read<uint64_t>(at);
    }
    uint8_t u8(size_t field) const {
        const size_t at = field_at(field);
        return at == 0 ? 0 : bytes_.read<uint8_t>(at);
    }
    // Checks that `size` bytes of a scalar are there.
    void check_scalar(size_t field, size_t size) const {
        const size_t at = field_at(field);
        if (at != 0) bytes_.check(at, size);
    }
    std::string text(size_t field) const {
        const size_t at = bytes_.offset(required(field));
        const size_t size = bytes_.read<uint32_t>(at);
        bytes_.check(at + 4, size + 1);
        if ((*bytes_.buffer)[at + 4 + size] != '\0') throw std::out_of_range("a text that does not end");
        return bytes_.buffer->substr(at + 4, size);
    }
    FlatTable table(size_t field) const { return FlatTable(bytes_, bytes_.offset(required(field))); }
    std::vector<FlatTable> tables(size_t field) const {
        std::vector<FlatTable> all;
        if (!has(field)) return all;
        const size_t at = bytes_.offset(required(field));
        const size_t count = bytes_.read<uint32_t>(at);
        bytes_.check(at + 4, count * 4);
        for (size_t i = 0; i < count; ++i) all.push_back(FlatTable(bytes_, bytes_.offset(at + 4 + 4 * i)));
        return all;
    }

  private:
    struct Bytes {
        const std::string *buffer;

        void check(size_t at, size_t size) const {
            if (at > buffer->size() || size > buffer->size() - at) throw std::out_of_range("out of bounds");
        }
        template <typename T> T read(size_t at) const {
            check(at, sizeof(T));
            T value;
            std::memcpy(&value, buffer->data() + at, sizeof(T));
            return value;
        }
        // What the forward offset at `at` points to.
        size_t offset(size_t at) const {
            const uint32_t distance = read<uint32_t>(at);
            if (distance == 0) throw std::out_of_range("an offset to itself");
            check(at + distance, 4);
            return at + distance;
        }
    };

    FlatTable(Bytes bytes, size_t at) : bytes_(bytes), at_(at) {
        const int64_t vtable = static_cast<int64_t>(at) - bytes_.read<int32_t>(at);
        if (vtable < 0 || vtable % 2 != 0) throw std::out_of_range("a table without a layout");
        vtable_ = static_cast<size_t>(vtable);
        vtable_size_ = bytes_.read<uint16_t>(vtable_);
        table_size_ = bytes_.read<uint16_t>(vtable_ + 2);
        if (vtable_size_ < 4 || vtable_size_ % 2 != 0 || table_size_ < 4) throw std::out_of_range("a broken layout");
        bytes_.check(vtable_, vtable_size_);
        bytes_.check(at_, table_size_);
    }

    // 0 for a field that is not there.
    size_t field_at(size_t field) const {
        const size_t entry = 4 + 2 * field;
        if (entry + 2 > vtable_size_) return 0;
        const size_t offset = bytes_.read<uint16_t>(vtable_ + entry);
        if (offset == 0) return 0;
        if (offset >= table_size_) throw std::out_of_range("a field outside its table");
        return at_ + offset;
    }
    size_t required(size_t field) const {
        const size_t at = field_at(field);
        if (at == 0) throw std::out_of_range("a field that is missing");
        return at;
    }

    Bytes bytes_;
    size_t at_;
    size_t vtable_ = 0;
    size_t vtable_size_ = 0;
    size_t table_size_ = 0;
};

} // namespace eliza::litert

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace eliza::litert {

enum class SectionKind : uint8_t {
    TFLITE = 3,
    SP_TOKENIZER = 4,
    LLM_METADATA = 5,
    HF_TOKENIZER_ZLIB = 6,
};

// Bytes of the file, begin to end.
struct Section {
    uint8_t kind = 0;
    uint64_t begin = 0;
    uint64_t end = 0;
};

// A .litertlm file whose header was checked: magic, version, every table, string and bound of the header, and that every
// section lies whole in the file. The library itself ends the process on files that break these rules.
struct ModelFile {
    std::string path;
    uint64_t size = 0;
    uint32_t major = 0, minor = 0, patch = 0;
    std::vector<Section> sections;

    // Throws MODEL_INVALID, which says where the file is wrong, or MODEL_NOT_FOUND.
    static ModelFile read(const std::string &path);
    // Of the only section of this kind, NULL for none.
    const Section *find(SectionKind kind) const;
    // Throws MODEL_INVALID if it is longer than `limit` or cannot be read.
    std::string bytes_of(const Section &section, uint64_t limit) const;
};

} // namespace eliza::litert

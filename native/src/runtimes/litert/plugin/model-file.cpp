#include "runtimes/litert/plugin/model-file.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "error/failure.h"
#include "runtimes/litert/plugin/flatbuffer.h"

namespace eliza::litert {

namespace {

constexpr size_t HEADER_BEGIN = 32;
constexpr size_t HEADER_END_AT = 24;
constexpr uint64_t LARGEST_HEADER = 16 << 20;
constexpr uint32_t SUPPORTED_MAJOR = 1;

[[noreturn]] void invalid(const std::string &path, const std::string &why) {
    throw Failure(Code::MODEL_INVALID, path + ": " + why, "fetch the file again, or convert the model anew");
}

std::string read_bytes(std::ifstream &file, uint64_t at, uint64_t size) {
    std::string bytes(size, '\0');
    file.seekg(static_cast<std::streamoff>(at));
    file.read(bytes.data(), static_cast<std::streamsize>(size));
    if (static_cast<uint64_t>(file.gcount()) != size) throw std::out_of_range("it ends too early");
    return bytes;
}

// Fields of the header's tables, by their places in the schema of litert-lm-builder 0.18.1.
namespace field {
constexpr size_t SYSTEM_METADATA = 0, SECTION_METADATA = 1; // of the root
constexpr size_t ENTRIES = 0, OBJECTS = 0;                  // of these two
constexpr size_t ITEMS = 0, BEGIN = 1, END = 2, DATA_TYPE = 3;
constexpr size_t KEY = 0, VALUE_TYPE = 1, VALUE = 2;
} // namespace field

// Entries are not needed here, but the library reads them unchecked.
void check_entry(const FlatTable &entry) {
    constexpr uint8_t BYTES_OF[] = {0, 1, 1, 2, 2, 4, 4, 4, 1, 0, 8, 8, 8};
    constexpr uint8_t TEXT = 9;
    entry.text(field::KEY);
    const uint8_t type = entry.u8(field::VALUE_TYPE);
    if (type == 0 || type >= sizeof(BYTES_OF)) throw std::out_of_range("an entry of unknown type");
    const FlatTable value = entry.table(field::VALUE);
    if (type == TEXT) {
        value.text(0);
    } else {
        value.check_scalar(0, BYTES_OF[type]);
    }
}

std::vector<Section> read_sections(const std::string &header) {
    const FlatTable root = FlatTable::root(header);
    if (root.has(field::SYSTEM_METADATA)) {
        for (const FlatTable &entry : root.table(field::SYSTEM_METADATA).tables(field::ENTRIES)) check_entry(entry);
    }
    std::vector<Section> sections;
    for (const FlatTable &object : root.table(field::SECTION_METADATA).tables(field::OBJECTS)) {
        for (const FlatTable &item : object.tables(field::ITEMS)) check_entry(item);
        sections.push_back({object.u8(field::DATA_TYPE), object.u64(field::BEGIN), object.u64(field::END)});
    }
    return sections;
}

} // namespace

ModelFile ModelFile::read(const std::string &path) {
    std::error_code code;
    if (!std::filesystem::exists(path, code)) {
        throw Failure(Code::MODEL_NOT_FOUND, path + " does not exist", "check the path");
    }
    ModelFile model;
    model.path = path;
    model.size = std::filesystem::is_regular_file(path, code) ? std::filesystem::file_size(path, code) : 0;
    std::ifstream file(path, std::ios::binary);
    if (!file || model.size < HEADER_BEGIN) invalid(path, "it is no .litertlm file: it has no header");
    try {
        const std::string start = read_bytes(file, 0, HEADER_BEGIN);
        if (!start.starts_with("LITERTLM")) invalid(path, "it is no .litertlm file: it does not begin with LITERTLM");
        std::memcpy(&model.major, start.data() + 8, 4);
        std::memcpy(&model.minor, start.data() + 12, 4);
        std::memcpy(&model.patch, start.data() + 16, 4);
        if (model.major != SUPPORTED_MAJOR) {
            invalid(path, "its format is version " + std::to_string(model.major) + "." + std::to_string(model.minor) +
                              ", and 1 is supported");
        }
        uint64_t header_end = 0;
        std::memcpy(&header_end, start.data() + HEADER_END_AT, 8);
        if (header_end <= HEADER_BEGIN || header_end > model.size || header_end > LARGEST_HEADER) {
            invalid(path, "its header ends at " + std::to_string(header_end) + " of " + std::to_string(model.size) +
                              " bytes");
        }
        model.sections = read_sections(read_bytes(file, HEADER_BEGIN, header_end - HEADER_BEGIN));
        uint64_t last_end = header_end;
        for (size_t i = 0; i < model.sections.size(); ++i) {
            const Section &section = model.sections[i];
            if (section.begin < last_end || section.end < section.begin || section.end > model.size) {
                invalid(path, "its section " + std::to_string(i) + " is said to be bytes " +
                                  std::to_string(section.begin) + " to " + std::to_string(section.end) + " of " +
                                  std::to_string(model.size));
            }
            last_end = section.end;
        }
    } catch (const std::out_of_range &error) {
        invalid(path, std::string("its header is broken: ") + error.what());
    }
    for (const auto &[kind, name] :
         {std::pair{SectionKind::TFLITE, "model"}, {SectionKind::LLM_METADATA, "metadata"}}) {
        const auto wanted = static_cast<uint8_t>(kind);
        if (std::ranges::none_of(model.sections, [&](const Section &each) { return each.kind == wanted; })) {
            invalid(path, std::string("it has no section with a ") + name);
        }
    }
    return model;
}

const Section *ModelFile::find(SectionKind kind) const {
    const auto found = std::ranges::find(sections, static_cast<uint8_t>(kind), &Section::kind);
    return found == sections.end() ? nullptr : &*found;
}

std::string ModelFile::bytes_of(const Section &section, uint64_t limit) const {
    if (section.end - section.begin > limit) {
        invalid(path, "a section has " + std::to_string(section.end - section.begin) + " bytes, more than " +
                          std::to_string(limit));
    }
    std::ifstream file(path, std::ios::binary);
    try {
        return read_bytes(file, section.begin, section.end - section.begin);
    } catch (const std::out_of_range &error) {
        invalid(path, error.what());
    }
}

} // namespace eliza::litert

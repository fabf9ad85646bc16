#include "runtimes/llama/model-fingerprint.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <vector>

#include "error/failure.h"
#include "runtimes/llama/sha256-stream.h"

namespace eliza {

namespace {

constexpr uint64_t HEAD = 1 << 20;
constexpr uint64_t PIECE = 4096;
constexpr uint64_t PIECES = 256;

} // namespace

std::string model_fingerprint(const std::string &path) {
    std::error_code code;
    const uint64_t size = std::filesystem::file_size(path, code);
    std::ifstream file(path, std::ios::binary);
    if (code || !file) {
        throw Failure(Code::MODEL_NOT_FOUND, path + " cannot be read any more",
                      "keep the model's file where it was while it is in use");
    }
    Sha256Stream hash;
    hash.add(&size, sizeof(size));
    std::vector<char> bytes;
    const auto add = [&](uint64_t from, uint64_t count) {
        bytes.resize(count);
        file.seekg(static_cast<std::streamoff>(from));
        file.read(bytes.data(), static_cast<std::streamsize>(count));
        hash.add(bytes.data(), static_cast<size_t>(std::max<std::streamsize>(0, file.gcount())));
        file.clear();
    };
    add(0, std::min(size, HEAD));
    if (size > HEAD + PIECE) {
        for (uint64_t i = 0; i < PIECES; ++i) add(HEAD + (size - HEAD - PIECE) * i / (PIECES - 1), PIECE);
    }
    return hash.finish_hex();
}

} // namespace eliza

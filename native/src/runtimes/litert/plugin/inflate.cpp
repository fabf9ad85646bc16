#include "runtimes/litert/plugin/inflate.h"

#include <limits>

// llama.cpp's tree brings it; only its zlib decoder is compiled in.
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#define STBI_NO_STDIO
#define STBI_NO_FAILURE_STRINGS
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include "stb/stb_image.h"
#pragma GCC diagnostic pop

namespace eliza::litert {

std::optional<std::string> inflate_zlib(const std::string &packed, size_t limit) {
    if (limit > std::numeric_limits<int>::max() || packed.size() > std::numeric_limits<int>::max()) return {};
    std::string text(limit, '\0');
    const int size =
        stbi_zlib_decode_buffer(text.data(), static_cast<int>(limit), packed.data(), static_cast<int>(packed.size()));
    if (size < 0) return {};
    text.resize(static_cast<size_t>(size));
    return text;
}

} // namespace eliza::litert

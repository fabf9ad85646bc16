#pragma once

#include <optional>
#include <string>

namespace eliza::litert {

// What zlib's format packs into `packed`; nothing if it is broken or longer than `limit`.
std::optional<std::string> inflate_zlib(const std::string &packed, size_t limit);

} // namespace eliza::litert

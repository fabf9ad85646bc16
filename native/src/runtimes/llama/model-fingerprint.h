#pragma once

#include <string>

namespace eliza {

// Tells model files apart without reading them whole: SHA-256, in hexadecimal, over a file's size, its first MiB and 256
// pieces of 4 KiB spread over the rest. Throws MODEL_NOT_FOUND.
std::string model_fingerprint(const std::string &path);

} // namespace eliza

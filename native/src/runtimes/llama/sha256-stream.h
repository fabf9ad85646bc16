#pragma once

#include <array>
#include <cstddef>
#include <string>

extern "C" {
#include "hash/sha256/sha256.h"
}

namespace eliza {

// SHA-256 of bytes that come in pieces.
class Sha256Stream {
  public:
    Sha256Stream() { sha256_init(&state_); }
    void add(const void *bytes, size_t count) {
        sha256_update(&state_, static_cast<const unsigned char *>(bytes), count);
    }
    std::array<unsigned char, SHA256_DIGEST_SIZE> finish() {
        std::array<unsigned char, SHA256_DIGEST_SIZE> digest{};
        sha256_final(&state_, digest.data());
        return digest;
    }
    std::string finish_hex() {
        std::string text;
        for (const unsigned char byte : finish()) {
            text += "0123456789abcdef"[byte >> 4];
            text += "0123456789abcdef"[byte & 15];
        }
        return text;
    }

  private:
    sha256_t state_{};
};

} // namespace eliza

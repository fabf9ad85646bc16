#pragma once

#include <string>
#include <string_view>

namespace eliza {

// Joins token pieces into text that is always valid UTF-8 and never ends inside a character.
class Utf8Assembler {
  public:
    // The bytes that are now whole. What may still become a character is held back; what cannot becomes U+FFFD.
    std::string push(std::string_view bytes);
    // What is held back at the end of a text, as U+FFFD.
    std::string flush();
    void clear() { pending_.clear(); }
    // Whether something is held back.
    bool pending() const { return !pending_.empty(); }

  private:
    std::string pending_;
};

} // namespace eliza

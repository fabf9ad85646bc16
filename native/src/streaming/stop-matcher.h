#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace eliza {

// Looks for stop strings in text that comes in pieces, and holds back what may be the beginning of one.
class StopMatcher {
  public:
    // None of them may be empty.
    void set(std::vector<std::string> stops) {
        stops_ = std::move(stops);
        clear();
    }
    // The text that may go now; after a match, what stands before the stop string, and then nothing more.
    std::string push(std::string_view text);
    // What is held back at the end of a text.
    std::string flush();
    // The stop string that was found, empty for none.
    const std::string &matched() const { return matched_; }
    void clear();

  private:
    std::vector<std::string> stops_;
    std::string held_;
    std::string matched_;
};

} // namespace eliza

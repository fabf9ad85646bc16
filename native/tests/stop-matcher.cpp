#include "streaming/stop-matcher.h"

#include <random>

#include "check.h"

using eliza::StopMatcher;

TEST("a stop string ends the text before it, whole or in pieces") {
    std::mt19937 random(17);
    const auto below = [&](size_t limit) { return static_cast<size_t>(random() % limit); };
    for (int round = 0; round < 2000; ++round) {
        std::string text;
        for (size_t i = 0; i < 30; ++i) text += "ab"[below(2)];
        std::vector<std::string> stops;
        for (size_t i = 0; i < 1 + below(3); ++i) {
            std::string stop;
            for (size_t j = 0; j < 1 + below(6); ++j) stop += "ab"[below(2)];
            stops.push_back(stop);
        }
        // The truth: the first prefix of the text in which a stop stands ends it.
        size_t cut = std::string::npos;
        for (size_t end = 1; end <= text.size() && cut == std::string::npos; ++end) {
            for (const std::string &stop : stops) cut = std::min(cut, text.substr(0, end).find(stop));
        }
        StopMatcher matcher;
        matcher.set(stops);
        std::string said;
        for (size_t at = 0; at < text.size(); ++at) said += matcher.push(text.substr(at, 1));
        said += matcher.flush();
        EXPECT(said == text.substr(0, cut));
        EXPECT(matcher.matched().empty() == (cut == std::string::npos));
    }
}

TEST("text that only began as a stop string is not lost") {
    StopMatcher matcher;
    matcher.set({"</end>"});
    EXPECT(matcher.push("a </en") == "a ");
    EXPECT(matcher.push("try") == "</entry");
    EXPECT(matcher.push("</") == "");
    EXPECT(matcher.flush() == "</");
    EXPECT(matcher.matched().empty());
}

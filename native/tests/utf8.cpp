#include "streaming/utf8.h"

#include <random>

#include "check.h"

using eliza::Utf8Assembler;

namespace {

std::string assemble(const std::string &bytes, size_t piece) {
    Utf8Assembler utf8;
    std::string out;
    for (size_t at = 0; at < bytes.size(); at += piece) out += utf8.push(bytes.substr(at, piece));
    return out + utf8.flush();
}

} // namespace

TEST("a character arrives only when it is whole") {
    Utf8Assembler utf8;
    EXPECT(utf8.push("\xF0\x9F").empty());
    EXPECT(utf8.push("\x98").empty());
    EXPECT(utf8.push("\x80!") == "\xF0\x9F\x98\x80!");
    EXPECT(utf8.flush().empty());
}

TEST("text in pieces of any size comes out as it went in") {
    const std::string text =
        "na\xC3\xAFve \xE2\x82\xAC \xE6\xBC\xA2\xE5\xAD\x97 \xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x9A\x80";
    for (size_t piece = 1; piece <= 7; ++piece) EXPECT(assemble(text, piece) == text);
}

TEST("bytes that are no character become U+FFFD, as Unicode recommends") {
    const std::string r = "\xEF\xBF\xBD";
    EXPECT(assemble("a\xFFz", 1) == "a" + r + "z");
    EXPECT(assemble("\xC0\x80", 1) == r + r);                 // overlong
    EXPECT(assemble("\xED\xA0\x80", 1) == r + r + r);         // a surrogate
    EXPECT(assemble("\xF4\x90\x80\x80", 1) == r + r + r + r); // above U+10FFFF
    EXPECT(assemble("\xE2\x82z", 2) == r + "z");              // cut off
    EXPECT(assemble("\xE2\x82", 2) == r);                     // cut off by the end
}

TEST("random bytes give the same text in one piece and in many") {
    const unsigned seed = 20261130;
    std::mt19937 random(seed);
    for (int round = 0; round < 2000; ++round) {
        std::string bytes(random() % 24, '\0');
        for (char &byte : bytes) byte = static_cast<char>(random());
        EXPECT(assemble(bytes, 1) == assemble(bytes, bytes.size() + 1));
    }
    if (check::failures > 0) std::printf("# seed %u\n", seed);
}

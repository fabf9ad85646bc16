#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtimes/litert/plugin/engine.h"

namespace eliza::litert {

// Ids of a text. add_special: after the model's start token; parse_special: markers of control tokens become theirs, else
// they stay text. Throws INVALID_ARGUMENT for what is no UTF-8 or has a NUL.
std::vector<int32_t> tokens_of(const Engine &engine, std::string_view text, bool add_special, bool parse_special);

// How many of the ids spell whole characters: all but those of a character that is cut off at the end.
size_t whole_characters(const Engine &engine, const int32_t *ids, size_t count);

// Texts that the library, which reads each by itself, turns into exactly these ids. Throws INVALID_ARGUMENT for ids that no
// text gives, such as parts of a character.
std::vector<std::string> texts_for(const Engine &engine, const int32_t *ids, size_t count);

} // namespace eliza::litert

#pragma once

#include <string>

#include "error/failure.h"

namespace eliza {

// A plugin's answer, "CODE: message\nhint", as the exception that it means.
[[noreturn]] inline void throw_plugin_failure(const std::string &runtime, const std::string &error) {
    const size_t colon = error.find(": ");
    const size_t line = error.find('\n');
    if (colon != std::string::npos && line != std::string::npos && colon < line) {
        const std::string name = error.substr(0, colon);
        const std::string message = error.substr(colon + 2, line - colon - 2);
#define CODE(known, number, meaning)                                                                                   \
    if (name == #known) throw Failure(Code::known, message, error.substr(line + 1));
        ELIZA_ERROR_CODES(CODE)
#undef CODE
    }
    throw Failure(Code::NATIVE_FAULT, runtime + (error.empty() ? " failed without a word" : ": " + error),
                  "please report this with the runtime's version");
}

} // namespace eliza

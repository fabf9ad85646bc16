#pragma once

#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>

#include "eliza-inference-ffi.h"

namespace eliza {

// What can go wrong, by the header's table.
enum class Code : int {
#define CODE(name, number, meaning) name = (number),
    ELIZA_ERROR_CODES(CODE)
#undef CODE
};

inline const char *code_name(Code code) {
    switch (code) {
#define CODE(name, number, meaning)                                                                                    \
    case Code::name:                                                                                                   \
        return #name;
        ELIZA_ERROR_CODES(CODE)
#undef CODE
    }
    return "NATIVE_FAULT";
}

// An error as it leaves the library: "CODE: what was wrong and what was found\nwhat to do".
inline std::string error_text(Code code, const std::string &message, const std::string &hint) {
    return std::string(code_name(code)) + ": " + message + "\n" + hint;
}

class Failure : public std::runtime_error {
  public:
    Failure(Code code, const std::string &message, const std::string &hint)
        : std::runtime_error(error_text(code, message, hint)), code_(code) {}
    Code code() const { return code_; }
    // What the C ABI returns for it.
    int status() const { return static_cast<int>(code_); }

  private:
    Code code_;
};

inline char *copy_string(const std::string &text) {
    auto *copy = static_cast<char *>(std::malloc(text.size() + 1));
    if (copy != nullptr) std::memcpy(copy, text.c_str(), text.size() + 1);
    return copy;
}

inline void set_error(char **out_error, const std::string &text) {
    if (out_error != nullptr && *out_error == nullptr) *out_error = copy_string(text);
}

// Runs an entry point's body; no exception passes the border.
template <typename Body> int guarded(char **out_error, Body body) {
    if (out_error != nullptr) *out_error = nullptr;
    const auto fail = [&](Code code, const std::string &text) {
        set_error(out_error, text);
        return static_cast<int>(code);
    };
    const char *hint = "please report this with the model's name";
    try {
        return body();
    } catch (const Failure &failure) {
        return fail(failure.code(), failure.what());
    } catch (const std::bad_alloc &) {
        return fail(Code::OUT_OF_MEMORY,
                    error_text(Code::OUT_OF_MEMORY, "an allocation failed", "use a smaller context, batch or model"));
    } catch (const std::exception &error) {
        return fail(Code::NATIVE_FAULT, error_text(Code::NATIVE_FAULT, error.what(), hint));
    } catch (...) {
        return fail(Code::NATIVE_FAULT, error_text(Code::NATIVE_FAULT, "unknown exception", hint));
    }
}

inline int not_implemented(char **out_error, const char *what) {
    set_error(out_error, error_text(Code::NOT_IMPLEMENTED, std::string(what) + " is not there yet",
                                    "ask the *_supported probes first"));
    return ELIZA_ERR_NOT_IMPLEMENTED;
}

} // namespace eliza

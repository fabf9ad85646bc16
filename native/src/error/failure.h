#pragma once

#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>

#include "eliza-inference-ffi.h"

namespace eliza {

// What goes wrong, as it leaves the library: "CODE: what was wrong and what was found\nwhat to do".
class Failure : public std::runtime_error {
  public:
    Failure(int status, const std::string &code, const std::string &message, const std::string &hint)
        : std::runtime_error(code + ": " + message + "\n" + hint), status_(status) {}
    int status() const { return status_; }

  private:
    int status_;
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
    try {
        return body();
    } catch (const Failure &failure) {
        set_error(out_error, failure.what());
        return failure.status();
    } catch (const std::bad_alloc &) {
        set_error(out_error, "OUT_OF_MEMORY: an allocation failed\nuse a smaller context, batch or model");
        return ELIZA_ERR_OOM;
    } catch (const std::exception &error) {
        set_error(out_error,
                  std::string("NATIVE_FAULT: ") + error.what() + "\nplease report this with the model's name");
        return ELIZA_ERR_FFI_FAULT;
    } catch (...) {
        set_error(out_error, "NATIVE_FAULT: unknown exception\nplease report this with the model's name");
        return ELIZA_ERR_FFI_FAULT;
    }
}

inline int not_implemented(char **out_error, const char *what) {
    set_error(out_error,
              std::string("NOT_IMPLEMENTED: ") + what + " is not there yet\nask the *_supported probes first");
    return ELIZA_ERR_NOT_IMPLEMENTED;
}

} // namespace eliza

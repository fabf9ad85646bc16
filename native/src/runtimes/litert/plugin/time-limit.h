#pragma once

#include <chrono>
#include <functional>

namespace eliza::litert {

// How long the library may be silent: 120 s, or ELIZA_LITERT_TIME_LIMIT_MS.
std::chrono::milliseconds time_limit();

// Runs `call` on a thread of its own and waits for it; false if it has not come back within the limit. It then goes on, so
// what it uses must never be freed. Exceptions of `call` are thrown here.
bool within_limit(std::function<void()> call);

} // namespace eliza::litert

#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include "error/failure.h"

namespace eliza {

// Values of options that come as a JSON object; what is wrong is INVALID_ARGUMENT and names the key.

[[noreturn]] inline void refuse(const std::string &message, const std::string &hint) {
    throw Failure(Code::INVALID_ARGUMENT, message, hint);
}

inline std::string shown(const nlohmann::json &value) {
    return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

inline nlohmann::json parse_options(const char *text) {
    nlohmann::json parsed = nlohmann::json::parse(text, nullptr, false);
    if (!parsed.is_object()) refuse("the options are not a JSON object", "pass an object, or NULL for none");
    return parsed;
}

inline int64_t integer(const std::string &key, const nlohmann::json &value, int64_t low, int64_t high) {
    if (!value.is_number_integer() || value.get<int64_t>() < low || value.get<int64_t>() > high) {
        refuse("option " + key + " is " + shown(value),
               "give an integer from " + std::to_string(low) + " to " + std::to_string(high));
    }
    return value.get<int64_t>();
}

inline float number(const std::string &key, const nlohmann::json &value, double low, double high) {
    if (!value.is_number() || !(value.get<double>() >= low && value.get<double>() <= high)) {
        refuse("option " + key + " is " + shown(value),
               "give a number from " + nlohmann::json(low).dump() + " to " + nlohmann::json(high).dump());
    }
    return value.get<float>();
}

} // namespace eliza

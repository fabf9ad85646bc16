#include "ffi/generation-options.h"

#include <algorithm>

#include "ffi/json-options.h"

namespace eliza {

namespace {

constexpr size_t MOST_STOPS = 16;
constexpr size_t MOST_STOP_BYTES = 256;

std::vector<std::string> stops(const nlohmann::json &value) {
    const auto is_stop = [](const nlohmann::json &stop) {
        return stop.is_string() && !stop.get_ref<const std::string &>().empty() &&
               stop.get_ref<const std::string &>().size() <= MOST_STOP_BYTES;
    };
    if (!value.is_array() || value.size() > MOST_STOPS || !std::all_of(value.begin(), value.end(), is_stop)) {
        refuse("option stop is " + shown(value), "give at most " + std::to_string(MOST_STOPS) + " strings of 1 to " +
                                                     std::to_string(MOST_STOP_BYTES) + " bytes");
    }
    return value.get<std::vector<std::string>>();
}

} // namespace

GenerationOptions parse_generation_options(const char *text, const GenerationOptions &opened) {
    GenerationOptions options = opened;
    options.seed.reset();
    if (text == nullptr || text[0] == '\0') return options;
    const nlohmann::json parsed = parse_options(text);
    for (const auto &[key, value] : parsed.items()) {
        if (key == "max_tokens") {
            options.max_tokens = static_cast<int32_t>(integer(key, value, 0, INT32_MAX));
        } else if (key == "temperature") {
            options.temperature = number(key, value, 0.0, 100.0);
        } else if (key == "top_p") {
            options.top_p = number(key, value, 0.0, 1.0);
        } else if (key == "top_k") {
            options.top_k = static_cast<int32_t>(integer(key, value, 0, INT32_MAX));
        } else if (key == "min_p") {
            options.min_p = number(key, value, 0.0, 1.0);
        } else if (key == "repeat_penalty") {
            options.repeat_penalty = number(key, value, 0.0, 100.0);
        } else if (key == "penalty_last_n") {
            options.penalty_last_n = static_cast<int32_t>(integer(key, value, 0, 65536));
        } else if (key == "seed") {
            options.seed = static_cast<uint32_t>(integer(key, value, 0, UINT32_MAX));
        } else if (key == "stop") {
            options.stop = stops(value);
        } else {
            refuse("option \"" + key + "\" is not known", "the header lists the options of configure");
        }
    }
    return options;
}

} // namespace eliza

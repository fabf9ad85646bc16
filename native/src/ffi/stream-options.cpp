#include "ffi/stream-options.h"

#include <cmath>

#include <nlohmann/json.hpp>

#include "error/failure.h"

namespace eliza {

namespace {

using nlohmann::json;

[[noreturn]] void invalid(const std::string &message, const std::string &hint) {
    throw Failure(Code::INVALID_ARGUMENT, message, hint);
}

int64_t integer(const std::string &key, const json &value, int64_t low, int64_t high) {
    if (!value.is_number_integer() || value.get<int64_t>() < low || value.get<int64_t>() > high) {
        invalid("option " + key + " is " + value.dump(),
                "give an integer from " + std::to_string(low) + " to " + std::to_string(high));
    }
    return value.get<int64_t>();
}

} // namespace

StreamOptions parse_stream_options(const char *text) {
    StreamOptions options;
    const bool is_given = text != nullptr && text[0] != '\0';
    const json parsed = is_given ? json::parse(text, nullptr, false) : json::object();
    if (!parsed.is_object()) invalid("the options are not a JSON object", "pass an object, or NULL for none");
    for (const auto &[key, value] : parsed.items()) {
        if (key == "seed") {
            options.seed = static_cast<uint32_t>(integer(key, value, 0, UINT32_MAX));
            options.seed_given = true;
        } else if (key == "threads") {
            options.threads = static_cast<int32_t>(integer(key, value, 1, 512));
        } else if (key == "batch_size") {
            options.batch_size = static_cast<int32_t>(integer(key, value, 1, 65536));
        } else if (key == "ubatch_size") {
            options.ubatch_size = static_cast<int32_t>(integer(key, value, 1, 65536));
        } else if (key == "max_streams") {
            options.max_streams = static_cast<int32_t>(integer(key, value, 1, 256));
        } else if (key == "penalty_last_n") {
            options.penalty_last_n = static_cast<int32_t>(integer(key, value, 0, 65536));
        } else if (key == "queue_size") {
            options.queue_size = static_cast<int32_t>(integer(key, value, 1, 65536));
        } else if (key == "exact_tokens") {
            options.exact_tokens = static_cast<int32_t>(integer(key, value, 0, INT32_MAX));
        } else if (key == "exact_sinks") {
            options.exact_sinks = static_cast<int32_t>(integer(key, value, 0, INT32_MAX));
        } else if (key == "min_p") {
            if (!value.is_number() || !(value.get<double>() >= 0.0 && value.get<double>() <= 1.0)) {
                invalid("option min_p is " + value.dump(), "give a number from 0 to 1");
            }
            options.min_p = value.get<float>();
        } else if (key == "kv_map") {
            if (!value.is_string() || value.get<std::string>().empty()) {
                invalid("option kv_map is " + value.dump(), "give the path of a solved map");
            }
            options.kv_map = value.get<std::string>();
        } else if (key == "runtime") {
            if (!value.is_string() || value.get<std::string>().empty()) {
                invalid("option runtime is " + value.dump(), "give the name of a runtime, such as llama.cpp");
            }
            options.runtime = value.get<std::string>();
        } else if (key == "run_ahead") {
            if (!value.is_boolean()) invalid("option run_ahead is " + value.dump(), "give true or false");
            options.run_ahead = value.get<bool>();
        } else {
            invalid("option \"" + key + "\" is not known", "the header lists the options of open_ex");
        }
    }
    if (options.ubatch_size == 0) options.ubatch_size = options.batch_size;
    if (options.ubatch_size > options.batch_size) {
        invalid("ubatch_size " + std::to_string(options.ubatch_size) + " is larger than batch_size " +
                    std::to_string(options.batch_size),
                "make it at most batch_size");
    }
    return options;
}

void check_stream_config(const eliza_llm_stream_config_t &config) {
    for (const float value : {config.temperature, config.top_p, config.repeat_penalty}) {
        if (!std::isfinite(value)) invalid("a sampling value is not finite", "give finite numbers");
    }
    if (config.context_size < 0) {
        invalid("context_size is " + std::to_string(config.context_size), "give 0 for the default, or more");
    }
    if (config.n_gpu_layers < -1) {
        invalid("n_gpu_layers is " + std::to_string(config.n_gpu_layers), "give -1 for all, 0 for the CPU, or more");
    }
}

} // namespace eliza

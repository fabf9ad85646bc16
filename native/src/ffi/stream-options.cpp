#include "ffi/stream-options.h"

#include <cmath>

#include <nlohmann/json.hpp>

#include "error/failure.h"
#include "ffi/generation-options.h"
#include "ffi/json-options.h"

namespace eliza {

namespace {

using nlohmann::json;

} // namespace

StreamOptions parse_stream_options(const char *text, const eliza_llm_stream_config_t &config) {
    StreamOptions options;
    const bool is_given = text != nullptr && text[0] != '\0';
    const json parsed = is_given ? parse_options(text) : json::object();
    json generation = json::object();
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
            options.min_p = number(key, value, 0.0, 1.0);
        } else if (key == "kv_map") {
            if (!value.is_string() || value.get<std::string>().empty()) {
                refuse("option kv_map is " + value.dump(), "give the path of a solved map");
            }
            options.kv_map = value.get<std::string>();
        } else if (key == "runtime") {
            if (!value.is_string() || value.get<std::string>().empty()) {
                refuse("option runtime is " + value.dump(), "give the name of a runtime, such as llama.cpp");
            }
            options.runtime = value.get<std::string>();
        } else if (key == "generation") {
            if (!value.is_object()) refuse("option generation is " + value.dump(), "give an object, as for configure");
            generation = value;
        } else if (key == "run_ahead") {
            if (!value.is_boolean()) refuse("option run_ahead is " + value.dump(), "give true or false");
            options.run_ahead = value.get<bool>();
        } else {
            refuse("option \"" + key + "\" is not known", "the header lists the options of open_ex");
        }
    }
    options.generation = generation_options(config, options);
    read_generation_options(generation, options.generation);
    if (options.ubatch_size == 0) options.ubatch_size = options.batch_size;
    if (options.ubatch_size > options.batch_size) {
        refuse("ubatch_size " + std::to_string(options.ubatch_size) + " is larger than batch_size " +
                   std::to_string(options.batch_size),
               "make it at most batch_size");
    }
    return options;
}

void check_stream_config(const eliza_llm_stream_config_t &config) {
    for (const float value : {config.temperature, config.top_p, config.repeat_penalty}) {
        if (!std::isfinite(value)) refuse("a sampling value is not finite", "give finite numbers");
    }
    if (config.context_size < 0) {
        refuse("context_size is " + std::to_string(config.context_size), "give 0 for the default, or more");
    }
    if (config.n_gpu_layers < -1) {
        refuse("n_gpu_layers is " + std::to_string(config.n_gpu_layers), "give -1 for all, 0 for the CPU, or more");
    }
}

} // namespace eliza

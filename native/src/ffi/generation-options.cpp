#include "ffi/generation-options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "ffi/json-options.h"

namespace eliza {

namespace {

using nlohmann::json;

constexpr size_t MOST_STOPS = 16;
constexpr size_t MOST_TEXT_BYTES = 256;
constexpr size_t MOST_BIASES = 4096;
constexpr size_t MOST_GRAMMAR_BYTES = 256 << 10;

struct Reader {
    GenerationOptions &options;
    const std::string &key;
    const json &value;

    float real(double low, double high) const { return number(key, value, low, high); }
    int32_t whole(int64_t low, int64_t high) const { return static_cast<int32_t>(integer(key, value, low, high)); }

    std::vector<std::string> texts() const {
        const auto fits = [](const json &text) {
            return text.is_string() && !text.get_ref<const std::string &>().empty() &&
                   text.get_ref<const std::string &>().size() <= MOST_TEXT_BYTES;
        };
        if (!value.is_array() || value.size() > MOST_STOPS || !std::ranges::all_of(value, fits)) {
            refuse("option " + key + " is " + shown(value), "give at most " + std::to_string(MOST_STOPS) +
                                                                " strings of 1 to " + std::to_string(MOST_TEXT_BYTES) +
                                                                " bytes");
        }
        return value.get<std::vector<std::string>>();
    }

    std::vector<LogitBias> biases() const {
        const char *hint = "give an object of token ids and numbers from -1000 to 1000, such as {\"15\": -100}";
        if (!value.is_object() || value.size() > MOST_BIASES) refuse("option " + key + " is no such object", hint);
        std::vector<LogitBias> all;
        for (const auto &[id, bias] : value.items()) {
            LogitBias one;
            const char *end = id.data() + id.size();
            const auto read = std::from_chars(id.data(), end, one.token);
            if (read.ec != std::errc{} || read.ptr != end || one.token < 0) {
                refuse("option " + key + " has the token " + shown(id), hint);
            }
            one.bias = number(key + " of token " + id, bias, -1000.0, 1000.0);
            all.push_back(one);
        }
        return all;
    }

    std::string text(size_t most) const {
        if (!value.is_string() || value.get_ref<const std::string &>().size() > most) {
            refuse("option " + key + " is " + shown(value).substr(0, 100),
                   "give a string of at most " + std::to_string(most) + " bytes");
        }
        return value.get<std::string>();
    }
};

using Read = void (*)(const Reader &);

const std::map<std::string, Read> &readers() {
    static const std::map<std::string, Read> all = {
        {"max_tokens", [](const Reader &r) { r.options.max_tokens = r.whole(0, INT32_MAX); }},
        {"temperature", [](const Reader &r) { r.options.temperature = r.real(0, 100); }},
        {"top_p", [](const Reader &r) { r.options.top_p = r.real(0, 1); }},
        {"top_k", [](const Reader &r) { r.options.top_k = r.whole(0, INT32_MAX); }},
        {"min_p", [](const Reader &r) { r.options.min_p = r.real(0, 1); }},
        {"typical_p", [](const Reader &r) { r.options.typical_p = r.real(0, 1); }},
        {"repeat_penalty", [](const Reader &r) { r.options.repeat_penalty = r.real(0, 100); }},
        {"presence_penalty", [](const Reader &r) { r.options.presence_penalty = r.real(-100, 100); }},
        {"frequency_penalty", [](const Reader &r) { r.options.frequency_penalty = r.real(-100, 100); }},
        {"penalty_last_n", [](const Reader &r) { r.options.penalty_last_n = r.whole(0, 65536); }},
        {"dry_multiplier", [](const Reader &r) { r.options.dry.multiplier = r.real(0, 100); }},
        {"dry_base", [](const Reader &r) { r.options.dry.base = r.real(1, 100); }},
        {"dry_allowed_length", [](const Reader &r) { r.options.dry.allowed_length = r.whole(1, 65536); }},
        {"dry_last_n", [](const Reader &r) { r.options.dry.last_n = r.whole(1, 65536); }},
        {"dry_breakers", [](const Reader &r) { r.options.dry.breakers = r.texts(); }},
        {"xtc_probability", [](const Reader &r) { r.options.xtc.probability = r.real(0, 1); }},
        {"xtc_threshold", [](const Reader &r) { r.options.xtc.threshold = r.real(0, 0.5); }},
        {"mirostat", [](const Reader &r) { r.options.mirostat.version = r.whole(0, 2); }},
        {"mirostat_tau", [](const Reader &r) { r.options.mirostat.tau = r.real(0.01, 100); }},
        {"mirostat_eta", [](const Reader &r) { r.options.mirostat.eta = r.real(0.0001, 1); }},
        {"logit_bias", [](const Reader &r) { r.options.logit_bias = r.biases(); }},
        {"grammar", [](const Reader &r) { r.options.grammar = r.text(MOST_GRAMMAR_BYTES); }},
        {"logprobs", [](const Reader &r) { r.options.logprobs = r.whole(-1, 20); }},
        {"seed",
         [](const Reader &r) { r.options.seed = static_cast<uint32_t>(integer(r.key, r.value, 0, UINT32_MAX)); }},
        {"stop", [](const Reader &r) { r.options.stop = r.texts(); }},
    };
    return all;
}

} // namespace

void read_generation_options(const json &given, GenerationOptions &options) {
    for (const auto &[key, value] : given.items()) {
        const auto reader = readers().find(key);
        if (reader == readers().end()) {
            refuse("option \"" + key + "\" is not known", "the header lists the options of configure");
        }
        reader->second({options, key, value});
    }
}

GenerationOptions parse_generation_options(const char *text, const GenerationOptions &opened) {
    GenerationOptions options = opened;
    options.seed.reset();
    if (text != nullptr && text[0] != '\0') read_generation_options(parse_options(text), options);
    return options;
}

} // namespace eliza

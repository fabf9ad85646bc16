#include "runtimes/litert/plugin/llm-metadata.h"

#include <stdexcept>

#include <nlohmann/json.hpp>

#include "error/failure.h"
#include "runtimes/litert/plugin/wire-format.h"

namespace eliza::litert {

namespace {

constexpr uint64_t LARGEST_METADATA = 16 << 20;

// Fields of LlmMetadata, PromptTemplates and PromptAffixes in litert-lm-builder 0.18.1.
namespace field {
constexpr uint32_t PROMPT_TEMPLATES = 3, MAX_NUM_TOKENS = 5, JINJA_TEMPLATE = 7;
constexpr uint32_t USER = 1, MODEL = 2, SYSTEM = 3;
constexpr uint32_t PREFIX = 1, SUFFIX = 2;
} // namespace field

struct Affixes {
    std::string prefix, suffix;
};

Affixes read_affixes(std::string_view message) {
    Affixes affixes;
    read_message(message, [&](const WireField &found) {
        if (found.number == field::PREFIX) affixes.prefix = found.bytes;
        if (found.number == field::SUFFIX) affixes.suffix = found.bytes;
    });
    return affixes;
}

// As a literal of Jinja, which reads JSON's escapes.
std::string literal(const std::string &text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string template_of(const Affixes &user, const Affixes &model, const Affixes &system) {
    const auto turn = [](const Affixes &affixes) {
        return "{{ " + literal(affixes.prefix) + " + message['content'] + " + literal(affixes.suffix) + " }}";
    };
    return "{% for message in messages %}{% if message['role'] == 'user' %}" + turn(user) +
           "{% elif message['role'] == 'assistant' %}" + turn(model) + "{% else %}" + turn(system) +
           "{% endif %}{% endfor %}{% if add_generation_prompt %}{{ " + literal(model.prefix) + " }}{% endif %}";
}

} // namespace

LlmMetadata read_llm_metadata(const ModelFile &model) {
    const std::string bytes = model.bytes_of(*model.find(SectionKind::LLM_METADATA), LARGEST_METADATA);
    LlmMetadata metadata;
    std::string affixes;
    try {
        read_message(bytes, [&](const WireField &found) {
            if (found.number == field::PROMPT_TEMPLATES) affixes = found.bytes;
            if (found.number == field::MAX_NUM_TOKENS) metadata.max_tokens = static_cast<int32_t>(found.integer);
            if (found.number == field::JINJA_TEMPLATE) metadata.chat_template = found.bytes;
        });
        if (metadata.chat_template.empty() && !affixes.empty()) {
            Affixes user, answer, system;
            read_message(affixes, [&](const WireField &found) {
                if (found.number == field::USER) user = read_affixes(found.bytes);
                if (found.number == field::MODEL) answer = read_affixes(found.bytes);
                if (found.number == field::SYSTEM) system = read_affixes(found.bytes);
            });
            metadata.chat_template = template_of(user, answer, system);
        }
    } catch (const std::out_of_range &error) {
        throw Failure(Code::MODEL_INVALID, model.path + ": its metadata is " + error.what(), "fetch the file again");
    }
    return metadata;
}

} // namespace eliza::litert

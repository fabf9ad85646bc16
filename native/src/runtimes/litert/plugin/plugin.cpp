// LiteRT-LM behind the plugin border.
#include "eliza-runtime-plugin.h"

#include <algorithm>
#include <cstring>
#include <string>

#include <nlohmann/json.hpp>

#include "error/failure.h"
#include "runtimes/litert/plugin/prompt-text.h"
#include "runtimes/litert/plugin/sequence.h"
#include "runtimes/llama/processors.h"
#include "select/default-context.h"
#include "streaming/utf8.h"

namespace {

using eliza::Code;
using eliza::Failure;
using eliza::litert::Engine;
using eliza::litert::Sampling;
using eliza::litert::Sequence;

void write_text(const std::string &text, char *into, size_t cap) {
    if (cap == 0) return;
    const size_t size = std::min(text.size(), cap - 1);
    std::memcpy(into, text.data(), size);
    into[size] = '\0';
}

// No exception passes the border.
template <typename Body> int32_t guarded(char *error, size_t cap, Body body) {
    const auto fail = [&](Code code, const std::string &text) {
        if (error != nullptr) write_text(text, error, cap);
        return static_cast<int32_t>(code);
    };
    try {
        return body();
    } catch (const Failure &failure) {
        return fail(failure.code(), failure.what());
    } catch (const std::bad_alloc &) {
        return fail(Code::OUT_OF_MEMORY,
                    eliza::error_text(Code::OUT_OF_MEMORY, "an allocation failed", "close streams"));
    } catch (const std::exception &error) {
        return fail(Code::NATIVE_FAULT, eliza::error_text(Code::NATIVE_FAULT, error.what(), "please report this"));
    }
}

int32_t hand_over(const std::string &text, char *into, size_t cap) {
    std::memcpy(into, text.data(), std::min(text.size(), cap));
    return static_cast<int32_t>(text.size());
}

Sequence &sequence_of(void *session) { return *static_cast<Sequence *>(session); }

int available(char *reason, size_t cap) {
    const eliza::litert::LoadedApi loaded = eliza::litert::load_litert();
    if (loaded.api != nullptr) return 1;
    write_text(loaded.reason, reason, cap);
    return 0;
}

int supports(const eliza_llm_stream_config_t *config, char *reason, size_t cap) {
    const bool penalty = config->repeat_penalty > 0.0f && config->repeat_penalty != 1.0f;
    if (!penalty) return 1;
    write_text("its sessions have no repeat penalty", reason, cap);
    return 0;
}

int32_t threads_of(int32_t asked) { return asked > 0 ? asked : eliza::usable_processors().count; }

int open_session(const char *artifact, const eliza_llm_stream_config_t *config, uint32_t seed, int32_t threads,
                 void **session, char *error, size_t cap) {
    return guarded(error, cap, [&] {
        auto engine = Engine::open(artifact, threads_of(threads), config->n_gpu_layers);
        // The start token that the library adds takes a place of its own where a sequence does not begin with it.
        const int32_t most = engine->max_tokens() - 1;
        const int32_t wanted =
            config->context_size > 0 ? config->context_size : eliza::default_context_size(engine->max_tokens());
        const Sampling sampling{config->temperature, config->top_p, config->top_k, seed};
        *session = new Sequence(std::move(engine), sampling, std::min(most, wanted));
        return ELIZA_OK;
    });
}

void close_session(void *session) { delete static_cast<Sequence *>(session); }

int32_t vocabulary(void *session) { return sequence_of(session).engine().vocabulary.size(); }

int32_t context_size(void *session) { return sequence_of(session).context_size(); }

int prefill(void *session, const int32_t *ids, size_t count, char *error, size_t cap) {
    return guarded(error, cap, [&] {
        sequence_of(session).prefill(ids, count);
        return ELIZA_OK;
    });
}

int step(void *session, eliza_plugin_token *token, char *error, size_t cap) {
    return guarded(error, cap, [&] { return sequence_of(session).step(token) ? 0 : 1; });
}

int32_t keep(void *session, int32_t n_keep) {
    return guarded(nullptr, 0, [&] { return sequence_of(session).keep(n_keep); });
}

void cancel(void *session) { sequence_of(session).cancel(); }

int32_t tokenize(void *session, const char *text, size_t bytes, int add_special, int parse_special, int32_t *ids,
                 size_t cap) {
    return guarded(nullptr, 0, [&] {
        const std::vector<int32_t> found = eliza::litert::tokens_of(sequence_of(session).engine(), {text, bytes},
                                                                    add_special != 0, parse_special != 0);
        std::copy_n(found.begin(), std::min(cap, found.size()), ids);
        return static_cast<int32_t>(found.size());
    });
}

int32_t detokenize(void *session, const int32_t *ids, size_t count, int special, char *bytes, size_t cap) {
    return guarded(nullptr, 0, [&] {
        const eliza::litert::Vocabulary &known = sequence_of(session).engine().vocabulary;
        std::string text;
        for (size_t i = 0; i < count; ++i) {
            if (known.contains(ids[i]) && (special != 0 || !known.is_control(ids[i]))) text += known.bytes(ids[i]);
        }
        return hand_over(text, bytes, cap);
    });
}

int32_t report(void *session, char *json, size_t cap) {
    return guarded(nullptr, 0, [&] {
        const Engine &engine = sequence_of(session).engine();
        const auto marker = [&](int32_t id) {
            return engine.vocabulary.contains(id) ? engine.vocabulary.bytes(id) : "";
        };
        const int32_t start = engine.start_token();
        auto controls = nlohmann::json::array();
        for (const int32_t id : engine.vocabulary.controls()) controls.push_back({{"id", id}, {"text", marker(id)}});
        auto ladder = nlohmann::json::array();
        for (const eliza::litert::Rung &rung : engine.ladder()) {
            const bool used = &rung == &engine.ladder().back();
            ladder.push_back({{"name", rung.name}, {"used", used}, {"reason", used ? "it answers" : rung.refused}});
        }
        const size_t slash = engine.file.path.find_last_of('/');
        const nlohmann::json report = {
            {"device", engine.ladder().back().name},
            {"accelerators", ladder},
            {"tokenIds", "derived"},
            {"library", engine.api.path},
            {"context", {{"threads", engine.threads}}},
            {"model",
             {{"name", engine.file.path.substr(slash == std::string::npos ? 0 : slash + 1)},
              {"path", engine.file.path},
              {"architecture",
               "litertlm " + std::to_string(engine.file.major) + "." + std::to_string(engine.file.minor)},
              {"bytes", engine.file.size},
              {"trainedContext", engine.max_tokens()},
              {"vocabulary", engine.vocabulary.size()},
              {"chatTemplate", engine.metadata.chat_template},
              {"bosToken", start >= 0 ? marker(start) : ""},
              {"eosToken", engine.stop_tokens().empty() ? "" : marker(engine.stop_tokens().front())},
              {"addBos", start >= 0},
              {"controlTokens", controls}}},
        };
        return hand_over(report.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), json, cap);
    });
}

int configure(void *session, const eliza_plugin_sampling *asked, char *error, size_t cap) {
    return guarded(error, cap, [&] {
        const bool penalty = asked->repeat_penalty > 0.0f && asked->repeat_penalty != 1.0f;
        if (penalty || asked->min_p > 0.0f) {
            throw Failure(Code::NOT_IMPLEMENTED,
                          std::string("LiteRT-LM's sessions have no ") + (penalty ? "repeat penalty" : "min_p"),
                          "leave it out, or choose another runtime");
        }
        sequence_of(session).set_sampling({asked->temperature, asked->top_p, asked->top_k, asked->seed},
                                          asked->seed_given != 0);
        return ELIZA_OK;
    });
}

int retain(const char *artifact, int32_t threads, char *error, size_t cap) {
    return guarded(error, cap, [&] {
        Engine::retain(artifact, threads_of(threads));
        return ELIZA_OK;
    });
}

void release(const char *artifact, int32_t threads) {
    guarded(nullptr, 0, [&] {
        Engine::release(artifact, threads_of(threads));
        return ELIZA_OK;
    });
}

const eliza_runtime_plugin_table table = {
    .struct_size = sizeof(eliza_runtime_plugin_table),
    .version = ELIZA_RUNTIME_PLUGIN_VERSION,
    .capabilities =
        ELIZA_CAPABILITY_TOKENIZE | ELIZA_CAPABILITY_DETOKENIZE | ELIZA_CAPABILITY_TOKENS | ELIZA_CAPABILITY_RESET_KEEP,
    .runtime_version = eliza::litert::LITERT_LM_VERSION,
    .available = available,
    .supports = supports,
    .open = open_session,
    .close = close_session,
    .vocabulary = vocabulary,
    .context_size = context_size,
    .prefill = prefill,
    .step = step,
    .keep = keep,
    .cancel = cancel,
    .tokenize = tokenize,
    .detokenize = detokenize,
    .report = report,
    .prefill_size = 128, // what exported models compute at once at most
    .configure = configure,
    .retain = retain,
    .release = release,
};

} // namespace

extern "C" ELIZA_API const eliza_runtime_plugin_table *eliza_runtime_plugin(uint32_t host_version);
const eliza_runtime_plugin_table *eliza_runtime_plugin(uint32_t host_version) {
    return host_version == ELIZA_RUNTIME_PLUGIN_VERSION ? &table : nullptr;
}

#include "runtimes/litert/plugin/engine.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <tuple>

#include "error/failure.h"
#include "runtimes/litert/plugin/cache-folder.h"
#include "runtimes/litert/plugin/time-limit.h"

namespace eliza::litert {

namespace {

std::mutex engines_mutex;

// Path, threads, and whether an accelerator was asked for.
using EngineKey = std::tuple<std::string, int32_t, bool>;

std::map<EngineKey, std::weak_ptr<Engine>> &engines() {
    static auto *const known = new std::map<EngineKey, std::weak_ptr<Engine>>; // never destroyed: threads outlive exit
    return *known;
}

struct Retained {
    std::vector<std::shared_ptr<Engine>> loaded;
    int count = 0;
};

std::mutex retained_mutex;

std::map<std::pair<std::string, int32_t>, Retained> &retained() {
    static auto *const known = new std::map<std::pair<std::string, int32_t>, Retained>;
    return *known;
}

constexpr int TOKEN_TEXT = 0;

} // namespace

std::shared_ptr<Engine> Engine::open(const std::string &path, int32_t threads, int32_t n_gpu_layers) {
    const LoadedApi loaded = load_litert();
    if (loaded.api == nullptr) {
        throw Failure(Code::BACKEND_UNAVAILABLE, loaded.reason, "run: eliza-inference runtimes add litert-lm");
    }
    // Held while one is loaded, so that two sessions opened at once share it.
    const std::lock_guard lock(engines_mutex);
    std::weak_ptr<Engine> &place = engines()[{path, threads, n_gpu_layers != 0}];
    if (std::shared_ptr<Engine> engine = place.lock(); engine != nullptr && !engine->lost) return engine;
    std::shared_ptr<Engine> engine(new Engine(*loaded.api, ModelFile::read(path), threads));
    engine->create(n_gpu_layers);
    engine->read_facts();
    place = engine;
    return engine;
}

void Engine::retain(const std::string &path, int32_t threads) {
    std::vector<std::shared_ptr<Engine>> loaded;
    {
        const std::lock_guard lock(engines_mutex);
        for (const bool accelerated : {false, true}) {
            const auto found = engines().find({path, threads, accelerated});
            if (found == engines().end()) continue;
            if (std::shared_ptr<Engine> engine = found->second.lock()) loaded.push_back(std::move(engine));
        }
    }
    const std::lock_guard lock(retained_mutex);
    Retained &place = retained()[{path, threads}];
    place.loaded = std::move(loaded);
    place.count += 1;
}

void Engine::release(const std::string &path, int32_t threads) {
    std::vector<std::shared_ptr<Engine>> last; // freed without the lock
    const std::lock_guard lock(retained_mutex);
    const auto found = retained().find({path, threads});
    if (found == retained().end() || --found->second.count > 0) return;
    last = std::move(found->second.loaded);
    retained().erase(found);
}

Engine::Engine(const LitertApi &the_api, ModelFile the_file, int32_t the_threads)
    : api(the_api), file(std::move(the_file)), metadata(read_llm_metadata(file)), vocabulary(Vocabulary::read(file)),
      threads(the_threads) {}

Engine::~Engine() {
    if (lost || handle_ == nullptr) return;
    const LitertApi *const table = &api;
    within_limit([table, handle = handle_] { table->engine_delete(handle); });
}

void Engine::create(int32_t n_gpu_layers) {
    std::vector<int> backends;
    if (void *loaded = api.loaded_file_create(file.path.c_str())) {
        constexpr int TEXT = 0;
        int found[8] = {};
        const int32_t count = api.loaded_file_modality_supported_backends(loaded, TEXT, found, 8);
        backends.assign(found, found + std::clamp(count, 0, 8));
        max_tokens_ = static_cast<int32_t>(api.loaded_file_max_context_tokens(loaded));
        api.loaded_file_delete(loaded);
    }
    const char *named = std::getenv("ELIZA_LITERT_ACCELERATORS");
    const std::string libraries =
        named != nullptr && named[0] != '\0' ? named : std::filesystem::path(api.path).parent_path().string();
    for (Rung &rung : accelerator_ladder(backends, n_gpu_layers, {libraries})) {
        const bool created = rung.refused.empty() && create_on(&rung, libraries);
        ladder_.push_back(std::move(rung));
        if (created) return;
    }
    throw Failure(Code::MODEL_INVALID, file.path + ": LiteRT-LM says " + ladder_.back().refused,
                  "fetch the file again, or convert the model anew");
}

bool Engine::create_on(Rung *rung, const std::string &libraries) {
    struct Made {
        void *handle = nullptr;
        std::string error;
    };
    const auto made = std::make_shared<Made>();
    CacheFolder cache(file);
    const LitertApi *const table = &api;
    const bool done = within_limit(
        [made, table, path = file.path, backend = rung->backend, libraries, count = threads, folder = cache.name()] {
            void *settings = table->engine_settings_create(path.c_str(), backend.c_str(), nullptr, nullptr);
            if (settings != nullptr) {
                table->engine_settings_set_num_threads(settings, count);
                table->engine_settings_set_cache_dir(settings, folder.c_str());
                if (backend == "npu") {
                    table->engine_settings_set_litert_dispatch_lib_dir(settings, libraries.c_str());
                }
                made->handle = table->engine_create(settings);
            }
            if (made->handle == nullptr) made->error = last_error(*table);
            if (settings != nullptr) table->engine_settings_delete(settings);
        });
    if (!done) {
        throw Failure(Code::NATIVE_FAULT, "LiteRT-LM did not load " + file.path + " in time",
                      "ELIZA_LITERT_TIME_LIMIT_MS is how long it may take");
    }
    handle_ = made->handle;
    rung->refused = made->error;
    if (handle_ == nullptr) return false;
    cache.keep();
    return true;
}

std::vector<int32_t> Engine::ids_of_union(const void *token) const {
    if (api.token_union_get_type(token) == TOKEN_TEXT) {
        const char *text = api.token_union_get_string(token);
        return text != nullptr ? tokenize(text) : std::vector<int32_t>();
    }
    const int *ids = nullptr;
    size_t count = 0;
    if (api.token_union_get_ids(token, &ids, &count) != 0 || ids == nullptr) return {};
    return {ids, ids + count};
}

void Engine::read_facts() {
    if (void *start = api.engine_get_start_token(handle_)) {
        const std::vector<int32_t> ids = ids_of_union(start);
        api.token_union_delete(start);
        if (ids.size() == 1) start_token_ = ids.front();
    }
    if (void *stops = api.engine_get_stop_tokens(handle_)) {
        for (size_t i = 0; i < api.token_unions_get_num_tokens(stops); ++i) {
            void *stop = api.token_unions_get_token_at(stops, i);
            if (stop == nullptr) continue;
            const std::vector<int32_t> ids = ids_of_union(stop);
            api.token_union_delete(stop);
            if (ids.size() == 1) stop_tokens_.push_back(ids.front());
        }
        api.token_unions_delete(stops);
    }
    if (max_tokens_ <= 0) max_tokens_ = metadata.max_tokens;
    if (max_tokens_ <= 1) {
        throw Failure(Code::MODEL_INVALID, file.path + " does not say how many tokens a sequence can hold",
                      "convert the model anew");
    }
    // What a session is told in ids goes to the library as text, so text must come back from ids.
    for (const char *text : {" a b", "caf\u00e9 \u6f22\u5b57 \U0001f680\n"}) {
        std::string back;
        for (const int32_t id : tokenize(text)) back += vocabulary.contains(id) ? vocabulary.bytes(id) : "";
        if (back == text) continue;
        throw Failure(Code::NOT_IMPLEMENTED,
                      file.path + ": its tokenizer does not give back the text \"" + std::string(text) + "\", but \"" +
                          back + "\"",
                      "use a model whose tokenizer keeps all text, such as a byte-level one");
    }
}

std::vector<int32_t> Engine::tokenize(const std::string &text) const {
    if (text.empty()) return {};
    void *result = api.engine_tokenize(handle_, text.c_str());
    if (result == nullptr) {
        throw Failure(Code::NATIVE_FAULT, "LiteRT-LM's tokenizer says " + last_error(api), "please report the text");
    }
    const int *tokens = api.tokenize_result_get_tokens(result);
    const size_t count = api.tokenize_result_get_num_tokens(result);
    std::vector<int32_t> ids(tokens, tokens + count);
    api.tokenize_result_delete(result);
    return ids;
}

} // namespace eliza::litert

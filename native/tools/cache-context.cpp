#include "cache-context.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "llama-model.h"

namespace {

bool is_tile_of(const std::string &type, const std::string &name) {
    if (type == name) return true;
    if (type.rfind(name + "_", 0) != 0) return false;
    return type.find_first_not_of("0123456789", name.size() + 1) == std::string::npos;
}

#ifdef ELIZA_MAPS
MapPtr load_map(llama_model *model, const Cache &cache, llama_context_params &params,
                const std::map<std::string, std::string> &maps) {
    if (cache.map.empty()) return nullptr;
    const auto file = maps.find(cache.map);
    if (file == maps.end()) throw std::runtime_error("no file was given for the map of " + cache.name);
    auto map =
        std::make_unique<eliza::LearnedMap>(file->second, model, params.type_k, params.type_v, params.offload_kqv);
    params.kv_map = map->graph();
    return map;
}
#else
MapPtr load_map(llama_model *, const Cache &cache, llama_context_params &, const std::map<std::string, std::string> &) {
    if (!cache.map.empty()) throw std::runtime_error("llama.cpp without edits takes no map: " + cache.name);
    return nullptr;
}
#endif

} // namespace

Cache parse_cache(const std::string &asked) {
    const size_t plus = std::min(asked.find('+'), asked.size());
    Cache cache{asked, {}, {}, 0, asked.substr(std::min(plus + 1, asked.size()))};
    const std::string name = asked.substr(0, plus);
    const size_t slash = name.find('/');
    const size_t at = name.find('@');
    if (slash == std::string::npos) throw std::runtime_error("not K/V: " + name);
    cache.k = name.substr(0, slash);
    const size_t tilde = std::min(name.find('~'), name.size());
    cache.v = name.substr(slash + 1, std::min(at, tilde) - slash - 1);
    if (tilde < name.size()) {
        std::istringstream window(name.substr(tilde + 1));
        char comma = 0;
        if (!(window >> cache.exact_tokens >> comma >> cache.exact_sinks) || comma != ',')
            throw std::runtime_error("not ~W,S: " + name);
    }
    if (at != std::string::npos) cache.batch = std::stoi(name.substr(at + 1));
    return cache;
}

ggml_type find_type(const std::string &name, uint32_t head_dim) {
    int found = GGML_TYPE_COUNT;
    for (int type = 0; type < GGML_TYPE_COUNT; ++type) {
        const int64_t tile = ggml_blck_size(static_cast<ggml_type>(type));
        if (tile <= 0 || head_dim % tile != 0 || !is_tile_of(ggml_type_name(static_cast<ggml_type>(type)), name))
            continue;
        if (found == GGML_TYPE_COUNT || tile > ggml_blck_size(static_cast<ggml_type>(found))) found = type;
    }
    return static_cast<ggml_type>(found);
}

MappedContext make_context(llama_model *model, const Cache &cache, llama_context_params params,
                           const std::map<std::string, std::string> &maps) {
    params.type_k = find_type(cache.k, model->hparams.n_embd_head_k());
    params.type_v = find_type(cache.v, model->hparams.n_embd_head_v());
    if (params.type_k == GGML_TYPE_COUNT || params.type_v == GGML_TYPE_COUNT) return {};
    params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_ENABLED;
    params.swa_full = false;
#ifdef ELIZA_MAPS
    params.exact_recent = cache.exact_tokens;
    params.exact_sinks = cache.exact_sinks;
#else
    if (cache.exact_tokens > 0 || cache.exact_sinks > 0)
        throw std::runtime_error("llama.cpp without edits keeps nothing exact: " + cache.name);
#endif
    MapPtr map = load_map(model, cache, params, maps);
    std::unique_ptr<llama_context, ContextDeleter> context(llama_init_from_model(model, params));
    return {std::move(map), std::move(context)};
}

#include <cstdlib>
#include <string>

#include <nlohmann/json.hpp>

#include "eliza-inference-ffi.h"
#include "runtimes/llama/cache-types.h"
#include "select/default-context.h"

const char *eliza_inference_abi_version(void) { return ELIZA_INFERENCE_ABI_VERSION; }

const char *eliza_inference_config_layout(void) {
#define AT(field)                                                                                                      \
    { #field, offsetof(eliza_llm_stream_config_t, field) }
    static const std::string layout = nlohmann::json{
        {"size", sizeof(eliza_llm_stream_config_t)},
        {"offsets",
         {AT(max_tokens), AT(temperature), AT(top_p), AT(top_k), AT(repeat_penalty), AT(slot_id), AT(prompt_cache_key),
          AT(draft_min), AT(draft_max), AT(mtp_drafter_path), AT(gbnf_grammar), AT(disable_thinking), AT(n_gpu_layers),
          AT(cache_type_k), AT(cache_type_v),
          AT(context_size)}}}.dump();
#undef AT
    return layout.c_str();
}

const char *eliza_inference_error_codes(void) {
    static const std::string codes = [] {
        auto list = nlohmann::json::array();
#define CODE(name, number, meaning) list.push_back({{"code", #name}, {"status", number}, {"meaning", meaning}});
        ELIZA_ERROR_CODES(CODE)
#undef CODE
        return list.dump();
    }();
    return codes.c_str();
}

const char *eliza_inference_cache_types(void) {
    static const std::string types = eliza::describe_cache_types();
    return types.c_str();
}

const char *eliza_inference_device_support(void) {
    static const std::string rows = eliza::describe_device_support();
    return rows.c_str();
}

int32_t eliza_inference_default_context_size(int32_t trained_context) {
    return eliza::default_context_size(trained_context);
}

int eliza_inference_llm_stream_supported(void) { return 1; }
int eliza_inference_llm_mtp_supported(void) { return 0; }
int eliza_inference_llm_kv_quant_supported(void) { return 1; }

void eliza_inference_free_string(char *string) { std::free(string); }
void eliza_inference_free_tokens(int32_t *tokens) { std::free(tokens); }

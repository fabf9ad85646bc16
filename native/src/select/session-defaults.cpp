#include "select/llm-backend.h"

#include "error/failure.h"
#include "streaming/output-queue.h"

using eliza::Capability;

namespace {

[[noreturn]] int lacks(Capability capability) {
    throw eliza::Failure(eliza::Code::NOT_IMPLEMENTED,
                         std::string("the runtime does not implement its capability ") +
                             eliza::capability_name(capability),
                         "please report this with its name");
}

} // namespace

int LlmBackendSession::next(bool wait, eliza::NextOutput *next, char **out_error) {
    std::string error;
    const int status = output().take(wait, next, &error);
    if (status < 0) eliza::set_error(out_error, error);
    return status;
}

int LlmBackendSession::configure(const eliza::GenerationOptions &, char **out_error) {
    return eliza::not_implemented(out_error, "other options for a stream that is open, in this runtime,");
}

int LlmBackendSession::save_slot(const char *, char **) { return lacks(Capability::SLOTS); }

int LlmBackendSession::restore_slot(const char *, char **) { return lacks(Capability::SLOTS); }

int LlmBackendSession::tokens(std::vector<int32_t> *, char **) { return lacks(Capability::TOKENS); }

int LlmBackendSession::tokenize(const char *, size_t, bool, bool, std::vector<int32_t> *, char **) {
    return lacks(Capability::TOKENIZE);
}

int LlmBackendSession::detokenize(const int32_t *, size_t, bool, std::string *, char **) {
    return lacks(Capability::DETOKENIZE);
}

eliza::Verdict LlmBackendFactory::supports(const eliza_llm_stream_config_t &config,
                                           const eliza::StreamOptions &options) const {
    const std::string unmet = eliza::unmet_needs(eliza::needs_of(config, options), capabilities());
    return unmet.empty() ? eliza::Verdict{} : eliza::Verdict::no(unmet);
}

int LlmBackendSession::cache_report(std::string *, char **out_error) {
    return eliza::not_implemented(out_error, "a report of the cache in this runtime");
}

int LlmBackendSession::generation_report(std::string *, char **out_error) {
    return eliza::not_implemented(out_error, "a report of the generation in this runtime");
}

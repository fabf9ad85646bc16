#include "select/llm-backend.h"

#include "error/failure.h"
#include "streaming/output-queue.h"

using eliza::not_implemented;

int LlmBackendSession::next(int32_t *tokens_out, size_t tokens_cap, size_t *count_out, char *text_out, size_t text_cap,
                            int32_t *drafted_out, int32_t *accepted_out, char **out_error) {
    *drafted_out = 0;
    *accepted_out = 0;
    std::string error;
    const int status = output().take(true, tokens_out, tokens_cap, count_out, text_out, text_cap, &error);
    if (status < 0) eliza::set_error(out_error, error);
    return status;
}

int LlmBackendSession::save_slot(const char *, char **out_error) { return not_implemented(out_error, "saving a slot"); }

int LlmBackendSession::tokens(std::vector<int32_t> *, char **out_error) {
    return not_implemented(out_error, "reading a sequence's tokens");
}

int LlmBackendSession::restore_slot(const char *, char **out_error) {
    return not_implemented(out_error, "restoring a slot");
}

int LlmBackendSession::tokenize(const char *, size_t, bool, bool, std::vector<int32_t> *, char **out_error) {
    return not_implemented(out_error, "tokenize in this runtime");
}

int LlmBackendSession::detokenize(const int32_t *, size_t, bool, std::string *, char **out_error) {
    return not_implemented(out_error, "detokenize in this runtime");
}

int LlmBackendSession::report(std::string *, char **out_error) {
    return not_implemented(out_error, "report in this runtime");
}

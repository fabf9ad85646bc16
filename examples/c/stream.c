// Streams a greedy answer: stream MODEL PROMPT TOKENS
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eliza-inference-ffi.h"

static int fail(char *error) {
    fprintf(stderr, "%s\n", error != NULL ? error : "failed without a word");
    eliza_inference_free_string(error);
    return 1;
}

static int generate(EliLlmStream *stream, const char *prompt) {
    char *error = NULL;
    int32_t *ids = NULL;
    size_t count = 0;
    if (eliza_inference_llm_stream_tokenize(stream, prompt, strlen(prompt), 1, 0, &ids, &count, &error) < 0) {
        return fail(error);
    }
    const int handed = eliza_inference_llm_stream_prefill(stream, ids, count, &error);
    eliza_inference_free_tokens(ids);
    if (handed < 0) return fail(error);
    for (int status = 0; status == 0;) {
        int32_t tokens[64];
        char text[4096];
        status = eliza_inference_llm_stream_next(stream, tokens, 64, &count, text, sizeof(text), NULL, NULL, &error);
        if (status < 0) return fail(error);
        fputs(text, stdout);
        fflush(stdout);
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: stream MODEL PROMPT TOKENS\n");
        return 2;
    }
    char *error = NULL;
    EliInferenceContext *context = eliza_inference_create(argv[1], &error);
    if (context == NULL) return fail(error);
    eliza_llm_stream_config_t config = {.max_tokens = atoi(argv[3]), .context_size = 512};
    EliLlmStream *stream = eliza_inference_llm_stream_open(context, &config, &error);
    const int status = stream != NULL ? generate(stream, argv[2]) : fail(error);
    eliza_inference_llm_stream_close(stream);
    eliza_inference_destroy(context);
    return status;
}

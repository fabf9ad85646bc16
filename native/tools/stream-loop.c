// eliza-stream-loop MODEL MAX_TOKENS THREADS TYPE_K TYPE_V < TOKENS: one greedy stream through the C ABI, as a C host
// would read it. Prints JSON: {"tokens": n, "firstTokenMs": x, "decodeMs": y, "tokensPerSecond": z}.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "eliza-inference-ffi.h"

static double now_ms(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static void fail(const char *error) {
    fprintf(stderr, "eliza-stream-loop: %s\n", error != NULL ? error : "failed");
    exit(1);
}

int main(int argc, char **argv) {
    if (argc != 6) fail("usage: eliza-stream-loop MODEL MAX_TOKENS THREADS TYPE_K TYPE_V < TOKENS");
    enum { PROMPT_CAP = 65536, TOKENS_CAP = 256, TEXT_CAP = 16384 };
    static int32_t prompt[PROMPT_CAP];
    size_t prompt_count = 0;
    while (prompt_count < PROMPT_CAP && scanf("%d", &prompt[prompt_count]) == 1) prompt_count += 1;

    char *error = NULL;
    EliInferenceContext *ctx = eliza_inference_create(argv[1], &error);
    if (ctx == NULL) fail(error);
    eliza_llm_stream_config_t config = {0};
    config.max_tokens = atoi(argv[2]);
    config.cache_type_k = argv[4];
    config.cache_type_v = argv[5];
    char options[64];
    snprintf(options, sizeof(options), "{\"threads\": %d}", atoi(argv[3]));
    EliLlmStream *stream = eliza_inference_llm_stream_open_ex(ctx, &config, options, &error);
    if (stream == NULL) fail(error);

    const double start = now_ms();
    double first = 0;
    double last = 0;
    size_t total = 0;
    if (eliza_inference_llm_stream_prefill(stream, prompt, prompt_count, &error) < 0) fail(error);
    for (int status = 0; status == 0;) {
        int32_t tokens[TOKENS_CAP];
        char text[TEXT_CAP];
        size_t count = 0;
        int32_t drafted = 0;
        int32_t accepted = 0;
        status = eliza_inference_llm_stream_next(stream, tokens, TOKENS_CAP, &count, text, TEXT_CAP, &drafted,
                                                 &accepted, &error);
        if (status < 0) fail(error);
        if (count == 0) continue;
        last = now_ms();
        if (total == 0) first = last;
        total += count;
    }
    printf("{\"tokens\": %zu, \"firstTokenMs\": %.3f, \"decodeMs\": %.3f, \"tokensPerSecond\": %.3f}\n", total,
           first - start, last - first, total > 1 ? (double)(total - 1) * 1e3 / (last - first) : 0.0);
    eliza_inference_llm_stream_close(stream);
    eliza_inference_destroy(ctx);
    return 0;
}

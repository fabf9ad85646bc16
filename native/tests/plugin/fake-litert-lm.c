// Stands in for liblitert-lm.so in tests of what the real one seldom does: other versions, calls that do not come back,
// errors without text. FAKE_LITERT_MODE says what happens; -DVERSION, -DNEXT_INTERFACE and -DWITHOUT_REWIND make other
// libraries of it. Its tokenizer is that of models/tiny without merges: a token a byte.
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

#ifdef VERSION
struct view {
    const char *text;
    size_t size;
};
EXPORT const struct view _ZN6litert2lm17LITERT_LM_VERSIONE = {VERSION, sizeof(VERSION) - 1};
#endif
#ifdef NEXT_INTERFACE
EXPORT void litert_lm_get_api_version(void) {}
#endif

typedef void (*callback)(void *user, const void *chunk);

struct chunk {
    const char *text, *error;
    bool final;
};
struct tokens {
    size_t count;
    int ids[4096];
};

static int handle;
static int step;

static bool mode(const char *name) {
    const char *given = getenv("FAKE_LITERT_MODE");
    return given != NULL && strcmp(given, name) == 0;
}

EXPORT void litert_lm_set_min_log_level(int level) { (void)level; }
EXPORT const char *litert_lm_get_last_error_message(void) { return mode("broken-words") ? "\xff\xfe: " : "at step: 5"; }
EXPORT int litert_lm_get_last_error_code(void) { return 13; }
EXPORT void *litert_lm_engine_settings_create(const char *a, const char *b, const char *c, const char *d) {
    (void)a, (void)b, (void)c, (void)d;
    return &handle;
}
EXPORT void litert_lm_engine_settings_delete(void *s) { (void)s; }
EXPORT void litert_lm_engine_settings_set_num_threads(void *s, int n) { (void)s, (void)n; }
EXPORT void litert_lm_engine_settings_set_cache_dir(void *s, const char *d) { (void)s, (void)d; }
EXPORT void litert_lm_engine_settings_set_litert_dispatch_lib_dir(void *s, const char *d) { (void)s, (void)d; }
EXPORT void *litert_lm_engine_create(const void *s) {
    (void)s;
    if (mode("dies")) abort();
    return mode("broken-words") ? NULL : &handle;
}
EXPORT void litert_lm_engine_delete(void *e) { (void)e; }
EXPORT void *litert_lm_sampler_params_create(int t) {
    (void)t;
    return &handle;
}
EXPORT void litert_lm_sampler_params_delete(void *p) { (void)p; }
EXPORT void litert_lm_sampler_params_set_top_k(void *p, int32_t v) { (void)p, (void)v; }
EXPORT void litert_lm_sampler_params_set_top_p(void *p, float v) { (void)p, (void)v; }
EXPORT void litert_lm_sampler_params_set_temperature(void *p, float v) { (void)p, (void)v; }
EXPORT void litert_lm_sampler_params_set_seed(void *p, int32_t v) { (void)p, (void)v; }
EXPORT void *litert_lm_session_config_create(void) { return &handle; }
EXPORT void litert_lm_session_config_delete(void *c) { (void)c; }
EXPORT void litert_lm_session_config_set_apply_prompt_template(void *c, bool b) { (void)c, (void)b; }
EXPORT void litert_lm_session_config_set_sampler_params(void *c, const void *p) { (void)c, (void)p; }
EXPORT void *litert_lm_engine_create_session(void *e, void *c) {
    (void)e, (void)c;
    step = 0;
    return &handle;
}
EXPORT void litert_lm_session_delete(void *s) { (void)s; }
EXPORT void litert_lm_session_cancel_process(void *s) { (void)s; }
#ifndef WITHOUT_REWIND
EXPORT int litert_lm_session_rewind_to_step(void *s, int to) {
    (void)s;
    return to > 100000 ? -1 : 0;
}
#endif
EXPORT void *litert_lm_input_data_create(int t, const void *d, size_t n) {
    (void)t, (void)d, (void)n;
    return &handle;
}
EXPORT void litert_lm_input_data_delete(void *d) { (void)d; }
EXPORT int litert_lm_session_run_prefill(void *s, const void *const *inputs, size_t n) {
    (void)s, (void)inputs, (void)n;
    if (mode("hangs")) sleep(600);
    return 0;
}

static void *answer(void *user) {
    void **parts = user;
    callback tell;
    memcpy(&tell, &parts[0], sizeof(tell));
    const struct chunk text = {"a", NULL, false}, end = {NULL, mode("fails") ? "\xff" : NULL, true};
    for (int i = 0; i < 3; ++i) tell(parts[1], &text);
    tell(parts[1], &end);
    free(parts);
    return NULL;
}

EXPORT int litert_lm_session_run_decode_async(void *s, callback tell, void *user) {
    (void)s;
    if (mode("silent")) return 0;
    void **parts = malloc(2 * sizeof(void *));
    memcpy(&parts[0], &tell, sizeof(tell));
    parts[1] = user;
    pthread_t thread;
    if (pthread_create(&thread, NULL, answer, parts) != 0) return -1;
    pthread_detach(thread);
    return 0;
}
EXPORT const char *litert_lm_stream_chunk_get_text(const void *c) { return ((const struct chunk *)c)->text; }
EXPORT bool litert_lm_stream_chunk_is_final(const void *c) { return ((const struct chunk *)c)->final; }
EXPORT const char *litert_lm_stream_chunk_get_error(const void *c) { return ((const struct chunk *)c)->error; }

// The place of a byte's letter among all letters of a byte-level vocabulary, after three markers.
static int id_of(unsigned char byte) {
    const bool printable = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    int before = 0;
    for (int other = 0; other < 256; ++other) {
        const bool shown = (other >= 0x21 && other <= 0x7E) || (other >= 0xA1 && other <= 0xAC) || other >= 0xAE;
        if (printable ? shown && other < byte : shown || other < byte) ++before;
    }
    return 3 + before;
}

EXPORT void *litert_lm_engine_tokenize(void *e, const char *text) {
    (void)e;
    struct tokens *tokens = calloc(1, sizeof(*tokens));
    for (; *text != '\0' && tokens->count < 4096; ++text) tokens->ids[tokens->count++] = id_of((unsigned char)*text);
    return tokens;
}
EXPORT void litert_lm_tokenize_result_delete(void *r) { free(r); }
EXPORT const int *litert_lm_tokenize_result_get_tokens(const void *r) { return ((const struct tokens *)r)->ids; }
EXPORT size_t litert_lm_tokenize_result_get_num_tokens(const void *r) { return ((const struct tokens *)r)->count; }
EXPORT void *litert_lm_engine_get_start_token(void *e) {
    (void)e;
    return NULL;
}
EXPORT void *litert_lm_engine_get_stop_tokens(void *e) {
    (void)e;
    return NULL;
}
EXPORT void litert_lm_token_union_delete(void *u) { (void)u; }
EXPORT int litert_lm_token_union_get_type(const void *u) {
    (void)u;
    return 1;
}
EXPORT const char *litert_lm_token_union_get_string(const void *u) {
    (void)u;
    return NULL;
}
EXPORT int litert_lm_token_union_get_ids(const void *u, const int **ids, size_t *count) {
    (void)u, (void)ids, (void)count;
    return -1;
}
EXPORT void litert_lm_token_unions_delete(void *u) { (void)u; }
EXPORT size_t litert_lm_token_unions_get_num_tokens(const void *u) {
    (void)u;
    return 0;
}
EXPORT void *litert_lm_token_unions_get_token_at(const void *u, size_t i) {
    (void)u, (void)i;
    return NULL;
}
EXPORT void *litert_lm_loaded_file_create(const char *path) {
    (void)path;
    return &handle;
}
EXPORT void litert_lm_loaded_file_delete(void *f) { (void)f; }
EXPORT uint32_t litert_lm_loaded_file_max_context_tokens(const void *f) {
    (void)f;
    return 512;
}
EXPORT int32_t litert_lm_loaded_file_modality_supported_backends(const void *f, int m, int *out, int32_t cap) {
    (void)f, (void)m;
    if (cap > 0) out[0] = 1;
    return 1;
}

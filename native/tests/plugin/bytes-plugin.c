// A runtime behind the plugin border: a model of bytes, whose next byte follows from the whole sequence. Ids 0 to 255 are
// bytes, 256 begins a text, 257 ends one.
#include "eliza-runtime-plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BEGIN = 256, END = 257, VOCABULARY = 258, DEFAULT_CONTEXT = 256 };

typedef struct {
    int32_t context;
    int32_t count;
    int32_t ids[];
} Session;

static int available(char *reason, size_t cap) {
    const char *why = getenv("ELIZA_TEST_PLUGIN_UNAVAILABLE");
    if (why == NULL || why[0] == '\0') return 1;
    snprintf(reason, cap, "%s", why);
    return 0;
}

static int supports(const eliza_llm_stream_config_t *config, char *reason, size_t cap) {
    if (config->temperature <= 0.0f) return 1;
    snprintf(reason, cap, "it is greedy, temperature must be 0");
    return 0;
}

static int open_session(const char *artifact, const eliza_llm_stream_config_t *config, uint32_t seed, int32_t threads,
                        void **session, char *error, size_t cap) {
    (void)seed;
    (void)threads;
    FILE *file = fopen(artifact, "rb");
    if (file == NULL) {
        snprintf(error, cap, "MODEL_INVALID: %s cannot be read\ncheck the bundle", artifact);
        return ELIZA_ERR_BUNDLE_INVALID;
    }
    fclose(file);
    const int32_t context = config->context_size > 0 ? config->context_size : DEFAULT_CONTEXT;
    Session *made = calloc(1, sizeof(Session) + (size_t)context * sizeof(int32_t));
    if (made == NULL) {
        snprintf(error, cap, "OUT_OF_MEMORY: no room for the sequence\nask for a smaller context");
        return ELIZA_ERR_OOM;
    }
    made->context = context;
    *session = made;
    return ELIZA_OK;
}

static void close_session(void *session) { free(session); }

static int32_t vocabulary(void *session) {
    (void)session;
    return VOCABULARY;
}

static int32_t context_size(void *session) { return ((Session *)session)->context; }

static int push(Session *session, int32_t id, char *error, size_t cap) {
    if (session->count == session->context) {
        snprintf(error, cap, "CONTEXT_FULL: the sequence is full\nopen the stream with a larger context");
        return ELIZA_ERR_INVALID_ARG;
    }
    session->ids[session->count++] = id;
    return ELIZA_OK;
}

static int prefill(void *opaque, const int32_t *ids, size_t count, char *error, size_t cap) {
    for (size_t i = 0; i < count; ++i) {
        const int status = push(opaque, ids[i], error, cap);
        if (status < 0) return status;
    }
    return ELIZA_OK;
}

static int step(void *opaque, eliza_plugin_token *token, char *error, size_t cap) {
    Session *session = opaque;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (int32_t i = 0; i < session->count; ++i) hash = (hash ^ (uint64_t)session->ids[i]) * UINT64_C(0x100000001b3);
    // After the first byte of "é" its second one.
    const int32_t last = session->count > 0 ? session->ids[session->count - 1] : BEGIN;
    token->id = last == 0xC3 ? 0xA9 : "aeinost .\xC3"[(hash ^ (hash >> 29)) % 10] & 0xFF;
    token->bytes[0] = (char)token->id;
    token->byte_count = 1;
    return push(session, token->id, error, cap) < 0 ? ELIZA_ERR_INVALID_ARG : 0;
}

static int32_t keep(void *opaque, int32_t n_keep) { return ((Session *)opaque)->count = n_keep; }

static int32_t tokenize(void *session, const char *text, size_t bytes, int add_special, int parse_special, int32_t *ids,
                        size_t cap) {
    (void)session;
    (void)parse_special;
    size_t count = 0;
    if (add_special && count++ < cap) ids[0] = BEGIN;
    for (size_t i = 0; i < bytes; ++i) {
        if (count < cap) ids[count] = (unsigned char)text[i];
        ++count;
    }
    return (int32_t)count;
}

static int32_t detokenize(void *session, const int32_t *ids, size_t count, int special, char *bytes, size_t cap) {
    (void)session;
    size_t length = 0;
    for (size_t i = 0; i < count; ++i) {
        const char *marker = ids[i] == BEGIN ? "<begin>" : "<end>";
        const size_t more = ids[i] < BEGIN ? 1 : special ? strlen(marker) : 0;
        const char byte = (char)ids[i];
        if (length + more <= cap) memcpy(bytes + length, ids[i] < BEGIN ? &byte : marker, more);
        length += more;
    }
    return (int32_t)length;
}

static int32_t report(void *session, char *json, size_t cap) {
    (void)session;
    static const char text[] = "{\"device\": \"CPU\", \"model\": {\"name\": \"bytes\", \"path\": \"\", "
                               "\"architecture\": \"bytes\", \"trainedContext\": 256, \"vocabulary\": 258, "
                               "\"chatTemplate\": \"\", \"bosToken\": \"<begin>\", \"eosToken\": \"<end>\"}}";
    if (sizeof(text) - 1 <= cap) memcpy(json, text, sizeof(text) - 1);
    return (int32_t)sizeof(text) - 1;
}

static const eliza_runtime_plugin_table table = {
    .struct_size = sizeof(eliza_runtime_plugin_table),
    .version = ELIZA_RUNTIME_PLUGIN_VERSION,
    .capabilities =
        ELIZA_CAPABILITY_TOKENIZE | ELIZA_CAPABILITY_DETOKENIZE | ELIZA_CAPABILITY_TOKENS | ELIZA_CAPABILITY_RESET_KEEP,
    .runtime_version = "1",
    .available = available,
    .supports = supports,
    .open = open_session,
    .close = close_session,
    .vocabulary = vocabulary,
    .context_size = context_size,
    .prefill = prefill,
    .step = step,
    .keep = keep,
    .tokenize = tokenize,
    .detokenize = detokenize,
    .report = report,
};

ELIZA_API const eliza_runtime_plugin_table *eliza_runtime_plugin(uint32_t host_version);
const eliza_runtime_plugin_table *eliza_runtime_plugin(uint32_t host_version) {
    return host_version == ELIZA_RUNTIME_PLUGIN_VERSION ? &table : NULL;
}

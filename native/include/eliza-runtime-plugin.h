// The border to runtimes that bring their own C++ (LiteRT-LM, MLX): a shared library of its own with one C function,
// opened at run time, so that libelizainference needs nothing of it and two C++ runtimes never meet.
//
// The library exports eliza_runtime_plugin. It gets the version that the host speaks and answers a table of functions
// of that version with static lifetime, or NULL if it speaks another. Fields are added at the end; struct_size says how many
// there are, and those beyond it count as NULL.
//
// A session is one sequence. The host calls prefill, step, keep, configure and report of one session from one thread at a
// time, cancel, tokenize and detokenize from any. Functions answer >= 0, or a negative ELIZA_ERR_* with "CODE: message\nhint",
// NUL-terminated, in `error` of `error_cap` bytes. No exception may leave one.
#ifndef ELIZA_RUNTIME_PLUGIN_H
#define ELIZA_RUNTIME_PLUGIN_H

#include "eliza-inference-ffi.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ELIZA_RUNTIME_PLUGIN_VERSION 1

// What sessions can do; the report's names are "tokenize", "detokenize", "tokens", "reset-keep", …
#define ELIZA_CAPABILITY_TOKENIZE (UINT64_C(1) << 0)
#define ELIZA_CAPABILITY_DETOKENIZE (UINT64_C(1) << 1)
#define ELIZA_CAPABILITY_TOKENS (UINT64_C(1) << 2)
#define ELIZA_CAPABILITY_RESET_KEEP (UINT64_C(1) << 3)
#define ELIZA_CAPABILITY_GRAMMAR (UINT64_C(1) << 8)
#define ELIZA_CAPABILITY_SPECULATIVE (UINT64_C(1) << 9)

// One computed token.
typedef struct eliza_plugin_token {
    int32_t id;
    int32_t drafted; // tokens guessed ahead in this step, and how many of them were right
    int32_t accepted;
    char bytes[256]; // its text, not necessarily whole characters
    size_t byte_count;
} eliza_plugin_token;

// How tokens are drawn, for a session that is open; values as in eliza_llm_stream_config_t.
typedef struct eliza_plugin_sampling {
    float temperature;
    float top_p;
    int32_t top_k;
    float min_p;          // 0: off
    float repeat_penalty; // over the last penalty_last_n tokens
    int32_t penalty_last_n;
    uint32_t seed;
    int32_t seed_given; // 0: draws go on as they are
} eliza_plugin_sampling;

typedef struct eliza_runtime_plugin_table {
    uint32_t struct_size;
    uint32_t version;
    uint64_t capabilities; // ELIZA_CAPABILITY_*
    const char *runtime_version;

    // Whether it can run on this host: 1, or 0 and why in `reason`. Cheap.
    int (*available)(char *reason, size_t reason_cap);
    // Whether it can give what is asked for, beyond its capabilities: 1, or 0 and why. NULL: always. Cheap.
    int (*supports)(const eliza_llm_stream_config_t *config, char *reason, size_t reason_cap);

    // Opens a session on the artifact (a file or a folder of the bundle's text/), loading the model if it must.
    int (*open)(const char *artifact, const eliza_llm_stream_config_t *config, uint32_t seed, int32_t threads,
                void **session, char *error, size_t error_cap);
    void (*close)(void *session);
    int32_t (*vocabulary)(void *session);   // ids are 0 to vocabulary - 1
    int32_t (*context_size)(void *session); // tokens that the sequence can hold

    // Computes prompt tokens.
    int (*prefill)(void *session, const int32_t *ids, size_t count, char *error, size_t error_cap);
    // 0: the next token, which the sequence then holds; 1: the model ended its answer.
    int (*step)(void *session, eliza_plugin_token *token, char *error, size_t error_cap);
    // Forgets all but the first n_keep tokens; answers how many are left, 0 where no prefix can be kept.
    int32_t (*keep)(void *session, int32_t n_keep);
    // What is being computed, also ahead of what was asked for, is not wanted any more; NULL: steps are short.
    void (*cancel)(void *session);

    // Answer how many ids (bytes) there are; at most `cap` are written. NULL without the capability.
    int32_t (*tokenize)(void *session, const char *text, size_t bytes, int add_special, int parse_special, int32_t *ids,
                        size_t cap);
    int32_t (*detokenize)(void *session, const int32_t *ids, size_t count, int special, char *bytes, size_t cap);
    // JSON object of the report (device, model, …); answers its bytes, writes at most `cap`.
    int32_t (*report)(void *session, char *json, size_t cap);

    // Tokens that prefill gets at once, so that a cancellation waits for few; 0: as many as the stream's ubatch.
    int32_t prefill_size;
    // For what is generated from here on. NULL: a session draws as it was opened.
    int (*configure)(void *session, const eliza_plugin_sampling *sampling, char *error, size_t error_cap);
    // Keeps what sessions on the artifact share, such as its weights, loaded while none is open, until as many releases.
    // Called after a session was opened on it with as many threads. NULL: nothing is shared.
    int (*retain)(const char *artifact, int32_t threads, char *error, size_t error_cap);
    void (*release)(const char *artifact, int32_t threads);
} eliza_runtime_plugin_table;

typedef const eliza_runtime_plugin_table *(*eliza_runtime_plugin_function)(uint32_t host_version);
// ELIZA_API const eliza_runtime_plugin_table *eliza_runtime_plugin(uint32_t host_version);

#ifdef __cplusplus
}
#endif

#endif

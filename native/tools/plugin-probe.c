// eliza-plugin-probe PLUGIN ARTIFACT: opens an artifact through a plugin and generates a few tokens. Standard output and
// status 1 are the plugin's error. A crash is this process's alone.
#include "eliza-runtime-plugin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { TEXT_IDS = 64, PROMPT = 8, STEPS = 8 };

static int fail(const char *error) {
    fputs(error, stdout);
    fflush(stdout);
    _exit(1);
}

int main(int argc, char **argv) {
    const struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    if (argc != 3) return fail("INVALID_ARGUMENT: eliza-plugin-probe needs a plugin and an artifact\n");
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return fail(dlerror());
    eliza_runtime_plugin_function function;
    *(void **)&function = dlsym(library, "eliza_runtime_plugin");
    const eliza_runtime_plugin_table *table = function != NULL ? function(ELIZA_RUNTIME_PLUGIN_VERSION) : NULL;
    if (table == NULL) return fail("ABI_MISMATCH: the plugin speaks another version of the border\n");
    const eliza_llm_stream_config_t config = {0};
    char error[1024] = "NATIVE_FAULT: the plugin gives no reason\n";
    void *session = NULL;
    if (table->open(argv[2], &config, 0, 0, &session, error, sizeof(error)) < 0) return fail(error);
    int32_t ids[TEXT_IDS] = {0};
    int32_t count = 1;
    if (table->tokenize != NULL) {
        const char *text = "Once upon a time there was";
        count = table->tokenize(session, text, strlen(text), 1, 0, ids, TEXT_IDS);
        if (count < 0) return fail("MODEL_INVALID: its tokenizer does not work\nfetch the file again");
    }
    if (count > PROMPT) count = PROMPT;
    if (count > 0 && table->prefill(session, ids, (size_t)count, error, sizeof(error)) < 0) return fail(error);
    for (int i = 0; count > 0 && i < STEPS; ++i) {
        eliza_plugin_token token;
        const int status = table->step(session, &token, error, sizeof(error));
        if (status < 0) return fail(error);
        if (status == 1) break;
    }
    table->close(session);
    _exit(0); // without destructors: what they would do at the end of a process says nothing of the file
}

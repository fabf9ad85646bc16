// The native half of elizainference.TextStream.
#include <jni.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "eliza-inference-ffi.h"

typedef struct {
    EliInferenceContext *context;
    EliLlmStream *stream;
} Handle;

static void throw_error(JNIEnv *env, char *error) {
    jclass type = (*env)->FindClass(env, "java/lang/IllegalStateException");
    if (type != NULL) (*env)->ThrowNew(env, type, error != NULL ? error : "NATIVE_FAULT: no reason");
    eliza_inference_free_string(error);
}

static void free_handle(Handle *handle) {
    eliza_inference_llm_stream_close(handle->stream);
    eliza_inference_destroy(handle->context);
    free(handle);
}

// A NUL-terminated copy; NULL with an exception if there is no memory.
static char *copy_bytes(JNIEnv *env, jbyteArray bytes) {
    const jsize length = (*env)->GetArrayLength(env, bytes);
    char *copy = malloc((size_t)length + 1);
    if (copy == NULL) {
        throw_error(env, NULL);
        return NULL;
    }
    (*env)->GetByteArrayRegion(env, bytes, 0, length, (jbyte *)copy);
    copy[length] = '\0';
    return copy;
}

static int start(Handle *handle, const char *model, const char *prompt, int32_t max_tokens, char **error) {
    handle->context = eliza_inference_create(model, error);
    if (handle->context == NULL) return -1;
    eliza_llm_stream_config_t config = {.max_tokens = max_tokens, .context_size = 512};
    handle->stream = eliza_inference_llm_stream_open(handle->context, &config, error);
    if (handle->stream == NULL) return -1;
    int32_t *ids = NULL;
    size_t count = 0;
    int status = eliza_inference_llm_stream_tokenize(handle->stream, prompt, strlen(prompt), 1, 0, &ids, &count, error);
    if (status < 0) return status;
    status = eliza_inference_llm_stream_prefill(handle->stream, ids, count, error);
    eliza_inference_free_tokens(ids);
    return status;
}

JNIEXPORT jlong JNICALL Java_elizainference_TextStream_open(JNIEnv *env, jclass type, jbyteArray model,
                                                            jbyteArray prompt, jint max_tokens) {
    (void)type;
    char *error = NULL;
    char *model_path = copy_bytes(env, model);
    char *prompt_text = model_path != NULL ? copy_bytes(env, prompt) : NULL;
    Handle *handle = prompt_text != NULL ? calloc(1, sizeof(Handle)) : NULL;
    if (handle != NULL && start(handle, model_path, prompt_text, max_tokens, &error) < 0) {
        free_handle(handle);
        handle = NULL;
        throw_error(env, error);
    }
    free(model_path);
    free(prompt_text);
    return (jlong)(intptr_t)handle;
}

JNIEXPORT jbyteArray JNICALL Java_elizainference_TextStream_read(JNIEnv *env, jclass type, jlong address) {
    (void)type;
    Handle *handle = (Handle *)(intptr_t)address;
    int32_t tokens[64];
    char text[4096];
    size_t count = 0;
    char *error = NULL;
    const int status =
        eliza_inference_llm_stream_next(handle->stream, tokens, 64, &count, text, sizeof(text), NULL, NULL, &error);
    if (status < 0) {
        throw_error(env, error);
        return NULL;
    }
    const jsize length = (jsize)strlen(text);
    const jbyte is_last = status == 1;
    jbyteArray piece = (*env)->NewByteArray(env, length + 1);
    if (piece == NULL) return NULL;
    (*env)->SetByteArrayRegion(env, piece, 0, 1, &is_last);
    (*env)->SetByteArrayRegion(env, piece, 1, length, (const jbyte *)text);
    return piece;
}

JNIEXPORT void JNICALL Java_elizainference_TextStream_cancel(JNIEnv *env, jclass type, jlong address) {
    (void)env;
    (void)type;
    eliza_inference_llm_stream_cancel(((Handle *)(intptr_t)address)->stream);
}

JNIEXPORT void JNICALL Java_elizainference_TextStream_free(JNIEnv *env, jclass type, jlong address) {
    (void)env;
    (void)type;
    free_handle((Handle *)(intptr_t)address);
}

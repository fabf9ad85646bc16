// Stands for libcuda. A "cubin" is the text "<path of an emulated kernel library>\n<symbol>\n..."; launches run there.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int (*emulate_fn)(uint32_t, void **, void *, size_t, const uint32_t *, const uint32_t *, uint32_t, uint32_t,
                          uint32_t, char *, size_t);
typedef struct {
    emulate_fn emulate;
    char *symbols;
} module;
typedef struct {
    emulate_fn emulate;
    uint32_t index;
} function;

enum { SUCCESS = 0, INVALID_VALUE = 1, NO_DEVICE = 100, INVALID_CONTEXT = 201, NOT_FOUND = 500, LAUNCH_FAILED = 719 };
#define CONTEXT 0xdead0000beef0001ull

static int live;
static int retained;
int mock_live(void) { return live + retained; }

int cuInit(unsigned flags) { return getenv("MOCK_CUDA_NO_DEVICE") ? NO_DEVICE : flags ? INVALID_VALUE : SUCCESS; }
int cuDriverGetVersion(int *version) { return *version = 13000, SUCCESS; }
int cuDeviceGetCount(int *count) { return *count = 1, SUCCESS; }
int cuDeviceGet(int *device, int ordinal) { return *device = ordinal, SUCCESS; }
int cuDeviceGetName(char *name, int length, int device) {
    (void)device;
    return snprintf(name, (size_t)length, "Mock GPU"), SUCCESS;
}
int cuDeviceGetAttribute(int *value, int attribute, int device) {
    (void)device;
    *value = attribute == 75 ? 9 : attribute == 10 ? 32 : 0;
    return SUCCESS;
}
int cuDevicePrimaryCtxRetain(uint64_t *context, int device) {
    (void)device;
    retained++;
    return *context = CONTEXT, SUCCESS;
}
int cuDevicePrimaryCtxRelease_v2(int device) {
    (void)device;
    retained--;
    return SUCCESS;
}
int cuCtxSetCurrent(uint64_t context) { return context == CONTEXT ? SUCCESS : INVALID_CONTEXT; }
int cuCtxSynchronize(void) { return SUCCESS; }

int cuModuleLoadData(uint64_t *out, const void *image) {
    char *text = strdup(image);
    char *line = strchr(text, '\n');
    if (!line) return INVALID_VALUE;
    *line = 0;
    void *library = dlopen(text, RTLD_NOW);
    if (!library) return fprintf(stderr, "%s\n", dlerror()), INVALID_VALUE;
    module *m = malloc(sizeof *m);
    m->emulate = (emulate_fn)dlsym(library, "emulate");
    m->symbols = strdup(line + 1);
    free(text);
    live++;
    return *out = (uint64_t)m, SUCCESS;
}
int cuModuleUnload(uint64_t handle) {
    module *m = (module *)handle;
    free(m->symbols);
    free(m);
    live--;
    return SUCCESS;
}
int cuModuleGetFunction(uint64_t *out, uint64_t handle, const char *name) {
    module *m = (module *)handle;
    uint32_t index = 0;
    for (const char *at = m->symbols; *at; index++) {
        const char *end = strchr(at, '\n');
        if ((size_t)(end - at) == strlen(name) && !strncmp(at, name, strlen(name))) {
            function *f = malloc(sizeof *f); // functions live as long as their module: the mock leaks them
            *f = (function){m->emulate, index};
            return *out = (uint64_t)f, SUCCESS;
        }
        at = end + 1;
    }
    return NOT_FOUND;
}
// Modules that say how large their blocks are, which the stand-in does not run, ask for these two.
int cuModuleGetGlobal_v2(uint64_t *out, uint64_t *bytes, uint64_t handle, const char *name) {
    (void)out, (void)bytes, (void)handle, (void)name;
    return NOT_FOUND;
}
int cuFuncSetAttribute(uint64_t handle, int attribute, int value) {
    (void)handle, (void)attribute, (void)value;
    return SUCCESS;
}

int cuMemAlloc_v2(uint64_t *out, size_t bytes) { return live++, *out = (uint64_t)malloc(bytes), SUCCESS; }
int cuMemFree_v2(uint64_t address) { return live--, free((void *)address), SUCCESS; }
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes) { return memcpy((void *)to, from, bytes), SUCCESS; }
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes) { return memcpy(to, (void *)from, bytes), SUCCESS; }
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, uint64_t stream) {
    return stream ? INVALID_VALUE : (memcpy((void *)to, (void *)from, bytes), SUCCESS);
}
int cuMemsetD8_v2(uint64_t to, unsigned char value, size_t bytes) { return memset((void *)to, value, bytes), SUCCESS; }

int cuLaunchKernel(uint64_t handle, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, uint64_t stream, void **arguments, void **extra) {
    if (shared || stream || extra || by != 1 || bz != 1) return INVALID_VALUE;
    const function *f = (const function *)handle;
    const uint32_t grid[3] = {gx, gy, gz};
    char message[256];
    if (f->emulate(f->index, arguments, NULL, 0, NULL, grid, bx, 32, 0, message, sizeof message)) {
        fprintf(stderr, "%s\n", message);
        return LAUNCH_FAILED;
    }
    return SUCCESS;
}

int cuEventCreate(uint64_t *event, unsigned flags) { return live++, *event = 1, flags ? INVALID_VALUE : SUCCESS; }
int cuEventDestroy_v2(uint64_t event) { return live--, event == 1 ? SUCCESS : INVALID_VALUE; }
int cuEventRecord(uint64_t event, uint64_t stream) { return event == 1 && !stream ? SUCCESS : INVALID_VALUE; }
int cuEventElapsedTime(float *milliseconds, uint64_t begin, uint64_t end) {
    (void)begin, (void)end;
    return *milliseconds = 0.25f, SUCCESS;
}

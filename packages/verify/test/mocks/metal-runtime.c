// Stands for the Objective-C runtime and Metal.framework. Keeps a log of messages and a count of owned objects.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    uint64_t width, height, depth;
} size;

// Integers and pointers come back in one register, doubles in another: a caller reads the one it expects.
typedef struct {
    uint64_t integer;
    double real;
} result;

static char log_text[1 << 16];
static size_t log_length;
static char selectors[64][96];
static int selector_count;
static int owned;
static void *contents[64];
static int buffer_count;

#define LOG(...) (log_length += (size_t)snprintf(log_text + log_length, sizeof log_text - log_length, __VA_ARGS__))

enum { CLASS = 0x1000, DEVICE = 0x2000, STRING = 0x3000, OBJECT = 0x4000, BUFFER = 0x5000, ERROR = 0x6000 };

const char *mock_log(void) { return log_text; }
int mock_owned(void) { return owned; }

uint64_t objc_getClass(const char *name) { return CLASS + (uint64_t)name[3]; }

uint64_t sel_registerName(const char *name) {
    for (int i = 0; i < selector_count; i++)
        if (!strcmp(selectors[i], name)) return (uint64_t)selectors[i];
    snprintf(selectors[selector_count], sizeof selectors[0], "%s", name);
    return (uint64_t)selectors[selector_count++];
}

uint64_t objc_autoreleasePoolPush(void) {
    LOG("push\n");
    return 77;
}
void objc_autoreleasePoolPop(uint64_t pool) { LOG("pop %llu\n", (unsigned long long)pool); }

uint64_t MTLCreateSystemDefaultDevice(void) {
    owned++;
    return getenv("MOCK_METAL_NO_DEVICE") ? 0 : DEVICE;
}

result objc_msgSend(uint64_t self, uint64_t selector, uint64_t a, uint64_t b, uint64_t c, uint64_t d, size grid,
                    size group) {
    const char *name = (const char *)selector;
    result r = {0, 0};
    (void)d;
    if (!strcmp(name, "name"))
        r.integer = STRING;
    else if (!strcmp(name, "UTF8String"))
        r.integer = (uint64_t)(self == ERROR + 1 ? "program_source:1: error" : "Mock GPU");
    else if (!strcmp(name, "localizedDescription"))
        r.integer = ERROR + 1;
    else if (!strcmp(name, "stringWithUTF8String:")) {
        LOG("string %zu\n", strlen((const char *)a));
        r.integer = STRING + 1;
    } else if (!strcmp(name, "alloc") || !strcmp(name, "newCommandQueue"))
        owned++, r.integer = OBJECT;
    else if (!strcmp(name, "retain"))
        owned++, r.integer = self;
    else if (!strcmp(name, "release"))
        owned--;
    else if (!strcmp(name, "init"))
        r.integer = self;
    else if (!strcmp(name, "newBufferWithLength:options:")) {
        owned++;
        contents[buffer_count] = calloc(1, a);
        LOG("buffer %llu options %llu\n", (unsigned long long)a, (unsigned long long)b);
        r.integer = BUFFER + (uint64_t)buffer_count++;
    } else if (!strcmp(name, "contents"))
        r.integer = (uint64_t)contents[self - BUFFER];
    else if (!strncmp(name, "newLibraryWithSource", 20)) {
        if (getenv("MOCK_METAL_REFUSE"))
            *(uint64_t *)c = ERROR;
        else
            owned++, r.integer = OBJECT;
    } else if (!strncmp(name, "newFunction", 11) || !strncmp(name, "newComputePipeline", 18))
        owned++, r.integer = OBJECT;
    else if (!strcmp(name, "setConstantValue:type:atIndex:"))
        LOG("constant %llu = %u type %llu\n", (unsigned long long)c, *(uint32_t *)a, (unsigned long long)b);
    else if (!strcmp(name, "setFastMathEnabled:"))
        LOG("fast math %llu\n", (unsigned long long)a);
    else if (!strcmp(name, "commandBuffer") || !strcmp(name, "computeCommandEncoder"))
        r.integer = OBJECT;
    else if (!strcmp(name, "setBuffer:offset:atIndex:"))
        LOG("set buffer %llu offset %llu index %llu\n", (unsigned long long)(a - BUFFER), (unsigned long long)b,
            (unsigned long long)c);
    else if (!strcmp(name, "setBytes:length:atIndex:"))
        LOG("set bytes %u.. length %llu index %llu\n", *(uint32_t *)a, (unsigned long long)b, (unsigned long long)c);
    else if (!strcmp(name, "setThreadgroupMemoryLength:atIndex:"))
        LOG("threadgroup memory %llu index %llu\n", (unsigned long long)a, (unsigned long long)b);
    else if (!strcmp(name, "dispatchThreadgroups:threadsPerThreadgroup:"))
        LOG("dispatch %llu %llu %llu by %llu %llu %llu\n", (unsigned long long)grid.width,
            (unsigned long long)grid.height, (unsigned long long)grid.depth, (unsigned long long)group.width,
            (unsigned long long)group.height, (unsigned long long)group.depth);
    else if (!strcmp(name, "status"))
        r.integer = getenv("MOCK_METAL_FAULT") ? 5 : 4;
    else if (!strcmp(name, "error"))
        r.integer = ERROR;
    else if (!strcmp(name, "GPUStartTime"))
        r.real = 1.5;
    else if (!strcmp(name, "GPUEndTime"))
        r.real = 1.75;
    else if (strcmp(name, "setComputePipelineState:") && strcmp(name, "endEncoding") && strcmp(name, "commit") &&
             strcmp(name, "waitUntilCompleted"))
        LOG("unknown message %s\n", name);
    return r;
}

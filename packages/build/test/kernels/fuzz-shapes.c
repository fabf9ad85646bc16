// Random shapes through encode, decode, query preparation and dot, for the sanitizers: every buffer is exactly as long
// as the format says, and rows hold whatever float32 patterns come.
//
//   fuzz-shapes SEED ROUNDS ISA…     prints the number of rounds and of values that went through
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eliza_kv.h"

// A test of the test: how many bytes the encoded row lacks.
#ifndef BYTES_SHORT
#define BYTES_SHORT 0
#endif

static uint64_t state;

static uint32_t next_word(void) { // splitmix64
    state += 0x9e3779b97f4a7c15u;
    uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ (z >> 31)) >> 16);
}

static float next_value(uint32_t kind) {
    const uint32_t word = next_word();
    float value;
    switch (kind) {
    case 0: // any pattern: NaN, Inf, denormals
        memcpy(&value, &word, sizeof(value));
        return value;
    case 1:
        return word % 5 == 0 ? 0.0f : ldexpf((float)(int32_t)word, (int)(next_word() % 200) - 130);
    case 2:
        return (float)((int32_t)(word % 7) - 3);
    default:
        return ((float)(int32_t)word + (float)(int32_t)next_word() + (float)(int32_t)next_word()) * 0x1p-31f;
    }
}

static void *exactly(size_t size) {
    void *block = malloc(size);
    if (block == NULL) exit(2);
    return block;
}

static int64_t round_of(const eliza_kv_format *format) {
    const int64_t tiles = 1 + next_word() % 9;
    const int64_t n = tiles * format->tile;
    const size_t size = (size_t)(tiles * format->tile_bytes);
    const bool sketched = strncmp(format->name, "qjl", 3) == 0;
    const size_t prepared_size = (size_t)n * sizeof(float);
    float *row = exactly((size_t)n * sizeof(float));
    float *query = exactly((size_t)n * sizeof(float));
    uint8_t *bytes = exactly(size - BYTES_SHORT);
    float *decoded = exactly((size_t)n * sizeof(float));
    float *rotated = exactly((size_t)(sketched ? 2 * n : n) * sizeof(float));
    void *prepared = exactly(prepared_size);
    const uint32_t kind = next_word() % 4;
    for (int64_t i = 0; i < n; ++i) row[i] = next_value(kind);
    for (int64_t i = 0; i < n; ++i) query[i] = next_value(3);
    format->prepare_query(query, prepared, n);
    // documented and default encoder by turns, then bytes that no encoder wrote
    for (int turn = 0; turn < 3; ++turn) {
        if (turn == 0) format->encode(row, bytes, n);
        if (turn == 1) format->encode_reference(row, bytes, n);
        if (turn == 2) {
            for (size_t i = 0; i < size - BYTES_SHORT; ++i) bytes[i] = (uint8_t)next_word();
        }
        float score = 0.0f;
        format->decode(bytes, decoded, n);
        format->decode_rotated(bytes, rotated, n);
        format->dot((int)n, &score, 0, bytes, 0, prepared, 0, 1);
        for (int64_t i = 0; i < n; ++i) state += decoded[i] > 0.0f;
        state += score > 0.0f;
    }
    free(row), free(query), free(bytes), free(decoded), free(rotated), free(prepared);
    return n;
}

int main(int argc, char **argv) {
    if (argc < 4) return 2;
    const long rounds = strtol(argv[2], NULL, 10);
    for (int i = 3; i < argc; ++i) {
        if (!eliza_kv_set_isa(argv[i])) {
            fprintf(stderr, "this processor or build has no %s\n", argv[i]);
            return 4;
        }
        state = strtoull(argv[1], NULL, 10);
        size_t count = 0;
        const eliza_kv_format *formats = eliza_kv_formats(&count);
        int64_t values = 0;
        for (long r = 0; r < rounds; ++r) values += round_of(&formats[next_word() % count]);
        printf("{\"isa\":\"%s\",\"rounds\":%ld,\"values\":%lld}\n", argv[i], rounds, (long long)values);
    }
    return 0;
}

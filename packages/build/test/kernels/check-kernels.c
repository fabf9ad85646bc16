// Holds the kernels against the reference: reads cases that the TypeScript codecs made, runs every format on every
// instruction set of this processor, prints one JSON line for each pair.
//
//   check-kernels CASES [ISA…]      the instruction sets named must be there; without any, all that are
//
// A case: uint32 length and text of the format's name; uint32 values n, bytes b, rotated values m; then float32
// row[n], query[n], uint8 default[b], reference[b], float32 decoded[n], rotated[m], prepared[m].
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eliza_kv.h"

typedef struct tally {
    long rows;
    long encode_differs;     // rows whose default bytes are not the reference's
    long reference_differs;  // the same of the documented encoder
    long not_finite_differs; // NaN expected and not found, or the other way round
    double decode;           // largest difference, over the largest value of its row
    double rotated;
    double prepared;
    double score; // largest difference, over the sum of |q·k|
} tally;

static uint32_t read_count(FILE *file) {
    uint32_t value = 0;
    if (fread(&value, sizeof(value), 1, file) != 1) exit(2);
    return value;
}

static void *read_block(FILE *file, size_t size) {
    void *block = malloc(size ? size : 1); // exactly as long as it is, so that the sanitizer sees any step past it
    if (block == NULL || fread(block, 1, size, file) != size) exit(2);
    return block;
}

static void compare(const float *found, const float *expected, uint32_t n, double *worst, tally *sum) {
    double largest = 0.0;
    double difference = 0.0;
    for (uint32_t i = 0; i < n; ++i) {
        if (isnan(found[i]) != isnan(expected[i])) sum->not_finite_differs += 1;
        if (isnan(found[i]) || isnan(expected[i])) continue;
        largest = fmax(largest, fabs((double)expected[i]));
        difference = fmax(difference, fabs((double)found[i] - (double)expected[i]));
    }
    if (difference > 0.0) *worst = fmax(*worst, largest > 0.0 ? difference / largest : INFINITY);
}

static float half_to_float(uint16_t half) {
    const int exponent = (half >> 10) & 31;
    const float fraction = (float)(half & 1023);
    const float magnitude = exponent == 0 ? ldexpf(fraction, -24) : ldexpf(1024.0f + fraction, exponent - 25);
    return half & 0x8000 ? -magnitude : magnitude;
}

static void check_case(const eliza_kv_format *format, FILE *file, tally *sum) {
    const uint32_t n = read_count(file);
    const uint32_t b = read_count(file);
    const uint32_t m = read_count(file);
    float *row = read_block(file, n * sizeof(float));
    float *query = read_block(file, n * sizeof(float));
    uint8_t *bytes = read_block(file, b);
    uint8_t *reference = read_block(file, b);
    float *decoded = read_block(file, n * sizeof(float));
    float *rotated = read_block(file, m * sizeof(float));
    float *prepared = read_block(file, m * sizeof(float));
    if (n % (uint32_t)format->tile != 0 || n / (uint32_t)format->tile * (uint32_t)format->tile_bytes != b) exit(3);

    uint8_t *out = malloc(b);
    memset(out, 0xa5, b);
    format->encode(row, out, n);
    sum->encode_differs += memcmp(out, bytes, b) != 0;
    memset(out, 0xa5, b);
    format->encode_reference(row, out, n);
    sum->reference_differs += memcmp(out, reference, b) != 0;

    float *values = malloc((m > n ? m : n) * sizeof(float));
    format->decode(bytes, values, n);
    compare(values, decoded, n, &sum->decode, sum);
    format->decode_rotated(bytes, values, n);
    compare(values, rotated, m, &sum->rotated, sum);

    const int packed = m != n; // the sketch of qjl1_256: fp16, within 2^-11 of each value
    const size_t prepared_size = packed ? m * sizeof(uint16_t) : m * sizeof(float);
    uint8_t *turned = malloc(prepared_size);
    format->prepare_query(query, turned, n);
    for (uint32_t i = 0; i < m; ++i) {
        if (packed) {
            uint16_t half;
            memcpy(&half, turned + 2 * i, sizeof(half));
            values[i] = half_to_float(half);
        } else {
            memcpy(values + i, turned + sizeof(float) * i, sizeof(float));
        }
    }
    compare(values, prepared, m, &sum->prepared, sum);

    float score = 0.0f;
    format->dot((int)n, &score, 0, bytes, 0, turned, 0, 1);
    double exact = 0.0;
    double size = 0.0;
    for (uint32_t i = 0; i < m; ++i) {
        exact += (double)values[i] * (double)rotated[i];
        size += fabs((double)values[i] * (double)rotated[i]);
    }
    if (isnan(exact) != isnan(score)) sum->not_finite_differs += 1;
    if (size > 0.0 && !isnan(exact)) sum->score = fmax(sum->score, fabs((double)score - exact) / size);
    sum->rows += 1;

    free(row), free(query), free(bytes), free(reference), free(decoded), free(rotated), free(prepared);
    free(out), free(values), free(turned);
}

static void check(const char *path, const char *isa) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) exit(2);
    size_t count = 0;
    const eliza_kv_format *formats = eliza_kv_formats(&count);
    tally *sums = calloc(count, sizeof(tally));
    for (int next = fgetc(file); next != EOF; next = fgetc(file)) {
        ungetc(next, file);
        char name[64] = {0};
        const uint32_t length = read_count(file);
        if (length >= sizeof(name) || fread(name, 1, length, file) != length) exit(2);
        const eliza_kv_format *format = eliza_kv_format_by_name(name);
        if (format == NULL) {
            fprintf(stderr, "no format is named %s\n", name);
            exit(3);
        }
        check_case(format, file, &sums[format - formats]);
    }
    for (size_t i = 0; i < count; ++i) {
        printf("{\"isa\":\"%s\",\"format\":\"%s\",\"rows\":%ld,\"encodeDiffers\":%ld,\"referenceDiffers\":%ld,"
               "\"notFiniteDiffers\":%ld,\"decode\":%.3g,\"rotated\":%.3g,\"prepared\":%.3g,\"score\":%.3g}\n",
               isa, formats[i].name, sums[i].rows, sums[i].encode_differs, sums[i].reference_differs,
               sums[i].not_finite_differs, sums[i].decode, sums[i].rotated, sums[i].prepared, sums[i].score);
    }
    free(sums);
    fclose(file);
}

int main(int argc, char **argv) {
    static const char *const ALL[] = {"scalar", "avx2", "avx512", "neon"};
    if (argc < 2) return 2;
    for (int i = 2; i < argc; ++i) {
        if (!eliza_kv_set_isa(argv[i])) {
            fprintf(stderr, "this processor or build has no %s\n", argv[i]);
            return 4;
        }
        check(argv[1], argv[i]);
    }
    for (int i = 0; argc == 2 && i < 4; ++i) {
        if (eliza_kv_set_isa(ALL[i])) check(argv[1], ALL[i]);
    }
    return 0;
}

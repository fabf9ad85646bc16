// Times encode, decode and dot of every format on every instruction set, in turns so that all meet the same machine.
//
//   bench-kernels [MILLISECONDS]      per format, operation and instruction set; prints a JSON line for each:
//                                     nanoseconds for 128 values, the least of the turns
//   bench-kernels count FORMAT ISA…   instructions for 128 values, counted by stepping through them (Linux)
//
// The work is 64 rows of 512 Gaussian values.
#define _GNU_SOURCE
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "eliza_kv.h"

#if defined(__linux__)
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

enum { ROW = 512, ROWS = 64, TURNS = 9, SETS = 4 };

static const char *const NAMES[SETS] = {"scalar", "avx2", "avx512", "neon"};

static float row[ROWS * ROW];
static float query[ROW];
static float decoded[2 * ROW];
static _Alignas(64) uint8_t bytes[ROWS * ROW * 4];
static _Alignas(64) uint8_t prepared[ROW * 4];
static volatile float sink;

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

enum operation { ENCODE, DECODE, DOT, OPERATIONS };

static const char *const OPERATION_NAMES[OPERATIONS] = {"encode", "decode", "dot"};

// The first n values of row r, decoded and scored in heads of 128 (the tile, if that is wider) as attention does.
static void run(const eliza_kv_format *format, enum operation operation, int r, int n) {
    const int head = format->tile > 128 ? format->tile : 128;
    const size_t head_bytes = (size_t)(head / format->tile * format->tile_bytes);
    uint8_t *at = bytes + (size_t)r * (ROW / head) * head_bytes;
    if (operation == ENCODE) {
        format->encode(row + r * ROW, at, n);
        return;
    }
    for (int h = 0; h < n / head; ++h, at += head_bytes) {
        float score = 0.0f;
        if (operation == DECODE) {
            format->decode(at, decoded, head);
            sink = decoded[0];
        } else {
            format->dot(head, &score, 0, at, 0, prepared, 0, 1);
            sink = score;
        }
    }
}

// Instructions that a child process takes between two stops, in which it runs the work so many times.
static double step_through(const eliza_kv_format *format, enum operation operation, int n, int times) {
#if defined(__linux__)
    const pid_t child = fork();
    if (child < 0) return NAN;
    if (child == 0) {
        run(format, operation, 0, n); // whatever is done once, such as binding a symbol
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) _exit(1);
        raise(SIGSTOP);
        for (int i = 0; i < times; ++i) run(format, operation, 0, n);
        raise(SIGSTOP);
        _exit(0);
    }
    int status = 0;
    double steps = NAN;
    waitpid(child, &status, 0);
    if (WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP) {
        steps = 0.0;
        while (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) == 0 && waitpid(child, &status, 0) == child) {
            if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP) break;
            steps += 1.0;
        }
        ptrace(PTRACE_KILL, child, NULL, NULL);
        waitpid(child, &status, 0);
    }
    return steps;
#else
    (void)format, (void)operation, (void)n, (void)times;
    return NAN;
#endif
}

// Instructions for 128 values; −1 where they cannot be counted.
static double count_instructions(const eliza_kv_format *format, enum operation operation) {
    const int n = format->tile > 128 ? format->tile : 128;
    const double once = step_through(format, operation, n, 2) - step_through(format, operation, n, 1);
    return isnan(once) ? -1.0 : once / (n / 128);
}

static void fill_rows(void) {
    uint64_t state = 1;
    for (int i = 0; i < ROWS * ROW; ++i) {
        float sum = -6.0f;
        for (int j = 0; j < 12; ++j) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            sum += (float)(state >> 40) * 0x1p-24f;
        }
        row[i] = sum;
    }
    memcpy(query, row + ROW, sizeof(query));
}

static int count(const eliza_kv_format *format, const char *isa) {
    if (format == NULL || !eliza_kv_set_isa(isa)) return 1;
    format->prepare_query(query, prepared, ROW);
    run(format, ENCODE, 0, ROW);
    for (int operation = 0; operation < OPERATIONS; ++operation) {
        printf("{\"format\":\"%s\",\"operation\":\"%s\",\"isa\":\"%s\",\"instructions\":%.0f}\n", format->name,
               OPERATION_NAMES[operation], isa, count_instructions(format, (enum operation)operation));
        fflush(stdout);
    }
    return 0;
}

static void time_all(double budget) {
    size_t count = 0;
    const eliza_kv_format *formats = eliza_kv_formats(&count);
    for (size_t f = 0; f < count; ++f) {
        const eliza_kv_format *format = &formats[f];
        for (int operation = 0; operation < OPERATIONS; ++operation) {
            double least[SETS];
            for (int s = 0; s < SETS; ++s) least[s] = INFINITY;
            for (int turn = 0; turn < TURNS; ++turn) {
                for (int s = 0; s < SETS; ++s) {
                    if (!eliza_kv_set_isa(NAMES[s])) continue;
                    format->prepare_query(query, prepared, ROW);
                    if (operation != ENCODE && turn == 0) {
                        for (int r = 0; r < ROWS; ++r) run(format, ENCODE, r, ROW);
                    }
                    double rows = 0.0;
                    const double start = now_ns();
                    double end = start;
                    while (end - start < budget) {
                        for (int r = 0; r < (operation == ENCODE ? 4 : ROWS); ++r, rows += ROW / 128.0) {
                            run(format, (enum operation)operation, r, ROW);
                        }
                        end = now_ns();
                    }
                    const double each = (end - start) / rows;
                    if (each < least[s]) least[s] = each;
                }
            }
            for (int s = 0; s < SETS; ++s) {
                if (!isfinite(least[s])) continue;
                printf("{\"format\":\"%s\",\"operation\":\"%s\",\"isa\":\"%s\",\"ns\":%.2f}\n", format->name,
                       OPERATION_NAMES[operation], NAMES[s], least[s]);
            }
        }
    }
}

int main(int argc, char **argv) {
    fill_rows();
    if (argc > 3 && strcmp(argv[1], "count") == 0) {
        int failed = 0;
        for (int i = 3; i < argc; ++i) failed |= count(eliza_kv_format_by_name(argv[2]), argv[i]);
        return failed;
    }
    time_all(1e6 * (argc > 1 ? atof(argv[1]) : 20.0) / TURNS);
    return 0;
}

// The rounds of attention-cpu for a machine without Node: the operation of two trees in turn, in one process.
//
//   cc -O2 attention-rounds.c -ldl -o attention-rounds
//   attention-rounds OURS PRISTINE ROUNDS THREADS HEAD_DIM HEADS HEADS_KV N_KV N_Q TYPE...
//
// TYPE is of K and V, or `K/V`. OURS and PRISTINE are the modules `eliza-attention-op` of both trees. A type with `p:` before it is pristine's. Prints
// one JSON line: bytes a second of memory to so many threads, and for each type the nanoseconds of every round.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TYPES = 32, MOST_ROUNDS = 1000 };

typedef void *open_fn(const char *k, const char *v, int dim, int heads, int heads_kv, int kv, int queries, int threads);
typedef double run_fn(void *opened);
typedef double bandwidth_fn(int threads);

static void *load(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "attention-rounds: %s\n", dlerror());
        exit(1);
    }
    return library;
}

// A name has a type for each tile, and the mixed ones for each head size.
static void *open_types(open_fn *open, const char *types, const int *shape, int threads) {
    char names[2][3][96];
    const char *slash = strchr(types, '/');
    const int length = slash == NULL ? (int)strlen(types) : (int)(slash - types);
    for (int v = 0; v < 2; ++v) {
        const char *name = v == 1 && slash != NULL ? slash + 1 : types;
        const int letters = v == 1 && slash != NULL ? (int)strlen(name) : length;
        snprintf(names[v][0], sizeof(names[v][0]), "%.*s", letters, name);
        snprintf(names[v][1], sizeof(names[v][1]), "%.*s_%d", letters, name, shape[0]);
        snprintf(names[v][2], sizeof(names[v][2]), "%.*s_64", letters, name);
    }
    void *opened = NULL;
    for (int i = 0; i < 9 && opened == NULL; ++i) {
        opened = open(names[0][i / 3], names[1][i % 3], shape[0], shape[1], shape[2], shape[3], shape[4], threads);
    }
    return opened;
}

int main(int argc, char **argv) {
    const int types = argc - 10;
    const int rounds = argc > 3 ? atoi(argv[3]) : 0;
    if (types < 1 || types > MOST_TYPES || rounds < 1 || rounds > MOST_ROUNDS) {
        fprintf(stderr,
                "usage: attention-rounds OURS PRISTINE ROUNDS THREADS HEAD_DIM HEADS HEADS_KV N_KV N_Q TYPE...\n");
        return 1;
    }
    void *const trees[2] = {load(argv[1]), load(argv[2])};
    const int threads = atoi(argv[4]);
    int shape[5];
    for (int i = 0; i < 5; ++i) shape[i] = atoi(argv[5 + i]);
    bandwidth_fn *bandwidth = (bandwidth_fn *)dlsym(trees[0], "attention_op_bandwidth");
    double most = 0.0;
    for (int i = 0; i < 3; ++i) {
        const double found = bandwidth(threads);
        most = found > most ? found : most;
    }
    static double times[MOST_TYPES][MOST_ROUNDS];
    void *opened[MOST_TYPES];
    void *tree[MOST_TYPES];
    const char *names[MOST_TYPES];
    for (int i = 0; i < types; ++i) {
        const int pristine = strncmp(argv[10 + i], "p:", 2) == 0;
        names[i] = argv[10 + i] + 2 * pristine;
        tree[i] = trees[pristine];
        opened[i] = open_types((open_fn *)dlsym(tree[i], "attention_op_open"), names[i], shape, threads);
    }
    for (int round = -1; round < rounds; ++round) { // the first is not counted
        for (int i = 0; i < types; ++i) {
            if (opened[i] == NULL) continue;
            const double time = ((run_fn *)dlsym(tree[i], "attention_op_run"))(opened[i]);
            if (round >= 0) times[i][round] = time;
        }
    }
    printf("{\"threads\":%d,\"head_dim\":%d,\"heads\":%d,\"heads_kv\":%d,\"n_kv\":%d,\"n_q\":%d,\"bandwidth\":%.0f,"
           "\"types\":[",
           threads, shape[0], shape[1], shape[2], shape[3], shape[4], most);
    const char *comma = "";
    for (int i = 0; i < types; ++i) {
        if (opened[i] == NULL) continue;
        const double bytes = ((run_fn *)dlsym(tree[i], "attention_op_bytes"))(opened[i]);
        printf("%s{\"type\":\"%s\",\"pristine\":%s,\"bytes\":%.0f,\"ns\":[", comma, names[i],
               tree[i] == trees[1] ? "true" : "false", bytes);
        for (int r = 0; r < rounds; ++r) printf("%s%.0f", r ? "," : "", times[i][r]);
        printf("]}");
        comma = ",";
    }
    puts("]}");
    return 0;
}

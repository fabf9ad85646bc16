// Rows of codes without a float of their own: what a type's rows are made of, and a tile of them as bytes and scales.
//
// Two kinds. Nibbles are blocks of 32 in 18 bytes (a scale, then 16 bytes with the first half of the values in the low
// nibbles), read through a table of 16. Bytes are integers of −128 to 127: q8_0's, and the values of a trellis' states.
#ifndef ELIZA_ATTENTION_CODES_AVX512_H
#define ELIZA_ATTENTION_CODES_AVX512_H

enum { MOST_RUNS = 16, NIBBLE_BLOCK = 18, Q8_BLOCK = 34, CODE_BLOCK = 32 };

enum code_kind { CODES_NONE, CODES_NIBBLES, CODES_BYTES };

// A trellis tile of a row.
typedef struct code_run {
    int rate;
    int width;
    int bytes;  // where it starts
    int values; // likewise
    int beyond; // bytes from its start to the word that follows its stream
} code_run;

typedef struct row_codes {
    enum code_kind kind;
    const float *table; // of nibbles
    int runs;           // 0: q8_0
    code_run run[MOST_RUNS];
    float step[MOST_RUNS]; // what a run's scale is multiplied by
} row_codes;

static const float Q4_0_VALUES[16] = {-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7};

// Rates of a mixed head's quarters; 0 where there are no more.
static const uint8_t *mixed_rates(int32_t type) {
    static const uint8_t halves[3][4] = {{5, 3}, {4, 2}, {3, 1}};
    static const uint8_t quarters[3][4] = {{6, 4, 3, 3}, {5, 3, 2, 2}, {4, 2, 1, 1}};
    const int index = type - ELIZA_KV_TYPE_TURBO4_MIX_64;
    return index % 4 == 0 ? halves[index / 4] : quarters[index / 4];
}

static bool add_run(row_codes *codes, int rate, int width, int *bytes, int *values, bool prefixed) {
    if (codes->runs == MOST_RUNS) return false;
    codes->run[codes->runs] = (code_run){rate, width, *bytes, *values, prefixed ? 50 : 2};
    codes->step[codes->runs++] = prefixed ? TRELLIS_PREFIXED_STEP[0] : TRELLIS_STEPS[rate - 1];
    *bytes += prefixed ? 52 : 2 + width * rate / 8;
    *values += width;
    return true;
}

// Tiles of one rate and width, a whole row of them.
static bool add_runs(row_codes *codes, int64_t n, int rate, int width, bool prefixed) {
    int bytes = 0;
    int values = 0;
    while (values < n) {
        if (!add_run(codes, rate, width, &bytes, &values, prefixed)) return false;
    }
    return true;
}

static bool add_mixed_runs(row_codes *codes, int64_t n, int32_t type) {
    const uint8_t *rates = mixed_rates(type);
    const int head = 64 << (type - ELIZA_KV_TYPE_TURBO4_MIX_64) % 4;
    int bytes = 0;
    int values = 0;
    while (values < n) {
        for (int run = 0; run < 4 && rates[run] != 0; ++run) {
            if (!add_run(codes, rates[run], head == 64 ? 32 : head / 4, &bytes, &values, false)) return false;
        }
    }
    return true;
}

static bool find_codes(row_codes *codes, int32_t type, int64_t n) {
    switch (type) {
    case ELIZA_KV_TYPE_TURBO4:
    case TYPE_Q4_0:
    case TYPE_IQ4_NL:
        codes->kind = CODES_NIBBLES;
        codes->table = type == TYPE_Q4_0 ? Q4_0_VALUES : type == TYPE_IQ4_NL ? IQ4_NL_VALUES : TURBO4_TABLE.centroids;
        return true;
    case TYPE_Q8_0:
        return true;
    case ELIZA_KV_TYPE_TURBO3_TCQ:
        return add_runs(codes, n, 3, 128, true);
    case ELIZA_KV_TYPE_TURBO3_TCQ_64:
        return add_runs(codes, n, 3, 64, false);
    case ELIZA_KV_TYPE_TURBO4_TCQ:
        return add_runs(codes, n, 4, 128, false);
    case ELIZA_KV_TYPE_TURBO4_TCQ_64:
        return add_runs(codes, n, 4, 64, false);
    case ELIZA_KV_TYPE_TURBO2_TCQ:
        return add_runs(codes, n, 2, 128, false);
    case ELIZA_KV_TYPE_TURBO2_TCQ_64:
        return add_runs(codes, n, 2, 64, false);
    default:
        if (type < ELIZA_KV_TYPE_TURBO4_MIX_64 || type > ELIZA_KV_TYPE_TURBO2_MIX_512) return false;
        return add_mixed_runs(codes, n, type);
    }
}

// How rows of n values are coded; kind NONE: in another way than these.
static row_codes codes_of(int32_t type, int64_t n) {
    row_codes codes = {.kind = CODES_BYTES};
    if (n % CODE_BLOCK != 0 || !find_codes(&codes, type, n)) codes.kind = CODES_NONE;
    return codes;
}

KV_INLINE const uint8_t *row_at(const row_reader *reader, int64_t row) {
    return reader->data + (size_t)row * reader->row;
}

// ---- scales

// The scales at `offset` of 16 rows; past `count` the last one again.
KV_INLINE vf scales_16(const row_reader *reader, const int64_t *rows, int count, int64_t offset) {
    uint16_t halves[LANES];
    for (int i = 0; i < LANES; ++i) {
        halves[i] = read16(row_at(reader, rows[i < count ? i : count - 1]) + offset);
    }
    return vf_load_half((const uint8_t *)halves);
}

// scales[n / 32][apart]: of each block of 32 values of `count` rows, padded to a multiple of 16.
static void read_scales(const row_codes *codes, const row_reader *reader, const int64_t *rows, int count, int64_t n,
                        float *scales, int apart) {
    for (int first = 0; first < count; first += LANES) {
        const int64_t *here = rows + first;
        const int left = count - first;
        if (codes->kind == CODES_BYTES && codes->runs > 0) {
            for (int r = 0; r < codes->runs; ++r) {
                const code_run *run = &codes->run[r];
                const vf scale = vf_mul(scales_16(reader, here, left, run->bytes), vf_set1(codes->step[r]));
                for (int b = run->values / CODE_BLOCK; b < (run->values + run->width) / CODE_BLOCK; ++b) {
                    vf_store(scales + b * apart + first, scale);
                }
            }
            continue;
        }
        const int block = codes->kind == CODES_NIBBLES ? NIBBLE_BLOCK : Q8_BLOCK;
        for (int64_t b = 0; b < n / CODE_BLOCK; ++b) {
            vf_store(scales + b * apart + first, scales_16(reader, here, left, b * block));
        }
    }
}

// ---- bytes

KV_BODY void unpack_stream(int k, int width, const uint8_t *stream, uint16_t beyond, int8_t *out) {
    for (int base = 0; base < width; base += 64) {
        const __m512i first = states32(k, width, stream, beyond, base / 32);
        const __m512i second = base + 32 < width ? states32(k, width, stream, beyond, base / 32 + 1) : first;
        const __m512i found = lookup512_bytes(trellis_values[k - 1], first, second);
        if (width == 32) {
            _mm256_storeu_si256((__m256i *)out, _mm512_castsi512_si256(found));
        } else {
            _mm512_storeu_si512(out + base, found);
        }
    }
}

typedef void unpack_fn(const code_run *run, const row_reader *reader, const int64_t *rows, int count, int8_t *out,
                       int64_t apart);

#define DEFINE_UNPACK(k, width)                                                                                        \
    static void unpack_##k##_##width(const code_run *run, const row_reader *reader, const int64_t *rows, int count,    \
                                     int8_t *out, int64_t apart) {                                                     \
        for (int i = 0; i < count; ++i) {                                                                              \
            const uint8_t *tile = row_at(reader, rows[i]) + run->bytes;                                                \
            unpack_stream(k, width, tile + 2, read16(tile + run->beyond), out + i * apart + run->values);              \
        }                                                                                                              \
    }
#define DEFINE_UNPACKS(k) DEFINE_UNPACK(k, 32) DEFINE_UNPACK(k, 64) DEFINE_UNPACK(k, 128)
DEFINE_UNPACKS(1)
DEFINE_UNPACKS(2)
DEFINE_UNPACKS(3)
DEFINE_UNPACKS(4)
DEFINE_UNPACKS(5)
DEFINE_UNPACKS(6)

#define UNPACKS(k)                                                                                                     \
    { unpack_##k##_32, unpack_##k##_64, unpack_##k##_128 }

static unpack_fn *const UNPACK[TRELLIS_RATES][3] = {UNPACKS(1), UNPACKS(2), UNPACKS(3),
                                                    UNPACKS(4), UNPACKS(5), UNPACKS(6)};

// out[count][n], without scales.
static void read_bytes(const row_codes *codes, const row_reader *reader, const int64_t *rows, int count, int64_t n,
                       int8_t *out) {
    for (int r = 0; r < codes->runs; ++r) {
        const code_run *run = &codes->run[r];
        UNPACK[run->rate - 1][run->width / 64](run, reader, rows, count, out, n);
    }
    if (codes->runs > 0) return;
    for (int i = 0; i < count; ++i) {
        const uint8_t *block = row_at(reader, rows[i]) + 2;
        for (int64_t d = 0; d < n; d += CODE_BLOCK, block += Q8_BLOCK) memcpy(out + i * n + d, block, CODE_BLOCK);
    }
}

#endif

// Decode attention: few queries over a long cache. out = softmax(scale q k + mask) v, for each KV head's queries at
// once, so that a row of the cache is read once for all of them.
//
// Persistent blocks share the (item, tile) space evenly, where an item is a sequence, a KV head and up to HEADS rows
// of queries (query position and head). A warp works on tiles of its own, which copies bring to its part of shared
// memory; keys are the right operand of int8 matrix products and queries, in 16 bits as two bytes, the left one, so
// that scores come out where the product of weights and values wants them. Weights are 16 bits too, relative to the
// tile's largest, with the scales of the values' blocks in them. Blocks put their parts into the workspace; the last
// one of an item merges them, turns the sums back to the original basis and adds what the exact window gave.
#pragma once
#include "attention_rows.cuh"
#include "attention_shape.cuh"
#include "codebooks.cuh"
#include "exact_window.cuh"
#include "head_rotation.cuh"
#include "row_copies.cuh"

constexpr uint32_t MAGIC = 0x4b400000u; // 1.5 * 2^23: a float whose low bits are an integer
// What the high byte's sum has too much once the low byte's, over 256, is added: MAGIC of both.
constexpr float MAGIC_BOTH = 12582912.0f + 49152.0f;
constexpr float MAGIC_FLOAT = 12582912.0f;
constexpr float LARGEST_16 = 32512.0f; // 127 * 256

template <class S> struct DecodeAttention {
    using K = typename S::K;
    using V = typename S::V;
    static constexpr int D = S::D, HEADS = S::HEADS, TOKENS = S::TOKENS, QUADS = TOKENS / 16, WARPS = S::WARPS;
    static constexpr int N = D / 32, ACC = S::ACC, OUT = S::OUT, TILES = S::TILES, PART = S::PART;
    static constexpr int KG = K::GROUPS, VG = V::GROUPS;

    const AttentionSources &src;
    const AttentionParams &p;
    uint8_t *const shared;
    const int warp;
    Lane l;
    int row; // of queries, whose scores the lane has
    uint8_t *k_stage, *v_stage;
    uint64_t *bars; // of keys, of values
    float *scales;  // of the tile's rows, [groups][TOKENS]
    using Keys = RowCopies<K::ROW, S::PACKED>;
    using Values = RowCopies<V::ROW, S::PACKED>;
    Keys keys;
    Values values;
    int key_place[2], value_place[4], key_scale_place, value_scale_place; // of the lane's rows in a stage
    VisibleRange range;
    uint32_t row_chunks;
    // Heads whose rows lie side by side are worked on at the same time by blocks side by side, since they share the
    // units that memory is read by; in a short context, so that no block has parts of two: `side` of them, of which the block has number `own`, in `groups` groups of blocks.
    uint32_t side, own, groups, group;
    uint32_t first, last; // of the block's tiles, of all that its group has of its items
    int magic[4];
    float acc[TILES][ACC];
    float m, total; // of the row: largest score, sum of weights

    struct Item {
        uint32_t seq, kv_head, first_row;
    };
    // Where a warp's copies are, in shared memory.
    struct Cursor {
        const uint8_t *keys, *values; // of the item's head
        uint32_t first, end;          // the item's tiles
    };
    __device__ __forceinline__ uint32_t number(uint32_t i) const { return i * side + own; }
    __device__ __forceinline__ Item item(uint32_t i) const {
        const uint32_t n = number(i), head = n / row_chunks;
        return {head / p.n_head_kv, head % p.n_head_kv, (n % row_chunks) * HEADS};
    }
    __device__ __forceinline__ float *working() const { return (float *)(shared + S::AT_WORKING); }
    __device__ __forceinline__ float *warp_sums() const { return (float *)(shared + S::AT_WARP_SUMS); }
    __device__ __forceinline__ float *query_scales() const { return (float *)(shared + S::AT_QUERY_SCALE); }
    __device__ __forceinline__ uint32_t *counter(uint32_t i) const { return (uint32_t *)src.workspace + number(i); }
    __device__ __forceinline__ float *part(uint32_t i, uint32_t n) const {
        const uint32_t items = p.n_seq * p.n_head_kv * row_chunks;
        float *parts = (float *)(src.workspace + (((size_t)items * 4 + 127) & ~(size_t)127));
        return parts + ((size_t)number(i) * p.max_parts + n) * PART;
    }

    __device__ __forceinline__ DecodeAttention(const AttentionSources &sources, const AttentionParams &params,
                                               uint8_t *memory)
        : src(sources), p(params), shared(memory), warp(threadIdx.x / 32), keys(sources.k, params.k, params),
          values(sources.v, params.v, params), range(visible_range<TOKENS>(params, 0, params.n_query - 1)) {
        l.lane = threadIdx.x % 32;
        l.g = l.lane / 4;
        l.t4 = l.lane % 4;
        l.codebooks = shared + S::AT_CODEBOOKS;
        row = HEADS == 4 ? l.g / 2 : l.g;
        k_stage = shared + warp * (S::K_STAGE + S::V_STAGE);
        v_stage = k_stage + S::K_STAGE;
        bars = (uint64_t *)(shared + S::AT_BARRIERS) + 2 * warp;
        scales = working() + warp * (S::scales(TOKENS) / 4);
        row_chunks = (p.n_query * (p.n_head / p.n_head_kv) + HEADS - 1) / HEADS;
        const uint32_t heads = p.n_head_kv * row_chunks;
        const bool few = (uint64_t)p.n_seq * heads * range.tiles < (uint64_t)gridDim.x * WARPS * 4;
        side = (few || !S::PACKED) && gridDim.x >= heads && gridDim.x % heads * 8 <= gridDim.x ? heads : 1;
        groups = gridDim.x / side;
        group = blockIdx.x / side;
        own = blockIdx.x % side;
        first = group < groups ? (uint32_t)(group * all_tiles() / groups) : 0;
        last = group < groups ? (uint32_t)((group + 1) * all_tiles() / groups) : 0;
#pragma unroll
        for (int i = 0; i < 4; i++) magic[i] = (int)opaque(MAGIC);
    }

    __device__ __forceinline__ const uint8_t *k_head(const Item &it) const {
        return src.k + it.seq * p.k.seq + it.kv_head * p.k.head;
    }
    __device__ __forceinline__ const uint8_t *v_head(const Item &it) const {
        return src.v + it.seq * p.v.seq + it.kv_head * p.v.head;
    }

    __device__ __forceinline__ uint64_t all_tiles() const {
        return (uint64_t)(p.n_seq * p.n_head_kv * row_chunks / side) * range.tiles;
    }
    __device__ __forceinline__ uint32_t group_of(uint32_t tile) const {
        return (uint32_t)(((uint64_t)(tile + 1) * groups - 1) / all_tiles());
    }
    // Blocks that work on an item.
    __device__ __forceinline__ uint32_t parts_of(uint32_t i) const {
        return group_of((i + 1) * range.tiles - 1) - group_of(i * range.tiles) + 1;
    }

    // Begins the copies of a tile's keys or values, if the block has the tile.
    __device__ __forceinline__ void begin_copies(uint32_t tile, bool of_values) const {
        if (tile >= last) return;
        Cursor *cursor = (Cursor *)(shared + S::AT_CURSORS) + warp;
        if (tile >= cursor->end) {
            __syncwarp();
            const uint32_t i = tile / range.tiles;
            const Item it = item(i);
            if (l.lane == 0) *cursor = Cursor{k_head(it), v_head(it), i * range.tiles, (i + 1) * range.tiles};
            __syncwarp();
        }
        const uint32_t token = (range.first_tile + tile - cursor->first) * TOKENS;
        const int left = (int)p.n_kv - (int)token, count = left < 0 ? 0 : left < TOKENS ? left : TOKENS;
        if (of_values)
            values.begin(v_stage, cursor->values, token, count, l.lane, bars + 1);
        else
            keys.begin(k_stage, cursor->keys, token, count, l.lane, bars);
    }

    __device__ __forceinline__ void load_query(const Item &it, int r, float (&x)[N]) const {
        const QueryRow q = query_row(p, it.kv_head, it.first_row + r);
        const uint8_t *from = src.q + it.seq * p.q.seq + q.head * p.q.head + q.query * p.q.row + 4 * l.lane;
#pragma unroll
        for (int i = 0; i < N; i++) x[i] = q.there && r < HEADS ? *(const float *)(from + 128 * i) : 0.0f;
    }

    // The item's queries, in the basis of the keys, as operands: two bytes (or two halves) a value.
    // The warp has loaded its first row into `x`.
    __device__ __forceinline__ void prepare_queries(const Item &it, float (&x)[N]) const {
        float *turned = working();
        for (int r = warp; r < HEADS; r += WARPS) {
            if (r != warp) load_query(it, r, x);
            float largest = 0;
            if (K::ROTATION == Rotation::signed_tile) rotate_tiles<N>(x, K::TILE, l.lane, true);
#pragma unroll
            for (int i = 0; i < N; i++) {
                turned[r * D + l.lane + 32 * i] = x[i];
                largest = fmaxf(largest, fabsf(x[i]));
            }
            largest = __uint_as_float(__reduce_max_sync(~0u, __float_as_uint(largest)));
            if (l.lane == 0) query_scales()[r] = largest;
        }
        __syncthreads();
        uint4 *operands = (uint4 *)(shared + S::AT_QUERY);
        constexpr int COUNT = D / 32 * 4 * HEADS * (K::HALF ? 2 : 1);
        for (int i = threadIdx.x; i < COUNT; i += S::THREADS) {
            const int r = i % HEADS, t4 = i / HEADS % 4, step = i / HEADS / 4;
            const float largest = query_scales()[r], factor = largest > 0 ? (K::HALF ? 1.0f : LARGEST_16) / largest : 0;
            uint32_t word[4] = {};
            if constexpr (K::HALF) {
#pragma unroll
                for (int half = 0; half < 2; half++) {
                    const float *x = turned + r * D + step / 2 * 32 + 8 * t4 + 4 * (step % 2) + 2 * half;
                    const uint32_t high = pack_halves(x[0] * factor, x[1] * factor);
                    word[2 * half] = high;
                    word[2 * half + 1] =
                        pack_halves(x[0] * factor - half_bits(high & 0xffff), x[1] * factor - half_bits(high >> 16));
                }
            } else {
#pragma unroll
                for (int j = 0; j < 8; j++) {
                    const int x = (int)rintf(turned[r * D + K::key_dim(step, t4, j)] * factor);
                    const int high = (x + 128) >> 8;
                    word[j / 4 * 2] |= (uint32_t)(high & 255) << (8 * (j % 4));
                    word[j / 4 * 2 + 1] |= (uint32_t)(x & 255) << (8 * (j % 4));
                }
            }
            operands[i] = uint4{word[0], word[1], word[2], word[3]};
        }
        __syncthreads();
    }

    // The scales of a tile's rows, a token a lane; 0 for rows that are not there. Returns the largest size among them.
    template <class T, class Copies>
    __device__ __forceinline__ float read_scales(const uint8_t *stage, int place, int left) const {
        float largest = 0;
#pragma unroll
        for (int t = 0; t < TOKENS; t += 32) {
            const int token = t + l.lane;
            const uint8_t *at = stage + Copies::offset(t) + place;
#pragma unroll
            for (int g = 0; g < T::GROUPS; g++) {
                const float x = token < left ? T::scale(at, g) : 0.0f;
                scales[g * TOKENS + token] = x;
                largest = fmaxf(largest, fabsf(x)); // a NaN stays out
            }
        }
        return largest;
    }

    // Of the lane's four tokens of a quad.
    __device__ __forceinline__ void read_scale(int group, int quad, float (&four)[4]) const {
        const float4 w = *(const float4 *)(scales + group * TOKENS + 16 * quad + 4 * l.t4);
        four[0] = w.x, four[1] = w.y, four[2] = w.z, four[3] = w.w;
    }

    // Scores of the tile: s[quad][i] of token 16 quad + 4 t4 + i, for the lane's row.
    __device__ __forceinline__ void score(const uint8_t *rows, float (&s)[QUADS][4]) const {
        const uint4 *operands = (const uint4 *)(shared + S::AT_QUERY);
#pragma unroll
        for (int u = 0; u < QUADS; u++)
#pragma unroll
            for (int i = 0; i < 4; i++) s[u][i] = 0;
#pragma unroll
        for (int chunk = 0; chunk < S::CHUNKS; chunk++) {
            constexpr int STEPS = S::STEPS * (K::HALF ? 2 : 1);
            uint32_t q[STEPS][4];
#pragma unroll
            for (int step = 0; step < STEPS; step++) {
                const uint4 w = operands[((chunk * STEPS + step) * 4 + l.t4) * HEADS + row];
                q[step][0] = w.x, q[step][1] = w.y, q[step][2] = w.z, q[step][3] = w.w;
            }
#pragma unroll
            for (int u = 0; u < QUADS; u++) {
                const int first_group = KG ? K::group_of_step(chunk * S::STEPS) : 0;
                float n[S::STEPS][4];
                if constexpr (KG > 0) {
#pragma unroll
                    for (int step = 0; step < S::STEPS; step++) {
                        const int group = K::group_of_step(chunk * S::STEPS + step);
                        if (step == 0 || group != K::group_of_step(chunk * S::STEPS + step - 1))
                            read_scale(group, u, n[group - first_group]);
                    }
                }
#pragma unroll
                for (int j = 0; j < 2; j++) {
                    const uint8_t *at = rows + Keys::offset(16 * u) + key_place[j];
                    if constexpr (K::HALF)
                        half_dots<STEPS>(at, chunk, q, s[u][j], s[u][2 + j]);
                    else
                        int_dots(at, chunk, q, n, first_group, j, s[u][j], s[u][2 + j]);
                }
            }
            keep_loads_here();
        }
    }

    // The sum of a product's high and low bytes, in units of the high one.
    static __device__ __forceinline__ float both_bytes(int high, int low) {
        return fmaf(__uint_as_float(low), 1.0f / 256.0f, __uint_as_float(high) - MAGIC_BOTH);
    }

    template <int STEPS>
    __device__ __forceinline__ void half_dots(const uint8_t *at, int chunk, const uint32_t (&q)[STEPS][4], float &s0,
                                              float &s1) const {
        float c[4] = {};
#pragma unroll
        for (int step = 0; step < STEPS; step++) {
            const uint8_t *four = at + (chunk * STEPS + step) / 2 * 64 + 16 * l.t4 + 8 * (step % 2);
            mma_half(c, q[step], lds32(four), lds32(four + 4));
        }
        s0 += c[0] + c[2];
        s1 += c[1] + c[3];
    }

    __device__ __forceinline__ void int_dots(const uint8_t *at, int chunk, const uint32_t (&q)[S::STEPS][4],
                                             const float (&n)[S::STEPS][4], int first_group, int j, float &s0,
                                             float &s1) const {
        typename K::KeyCodes codes;
        int c[4];
#pragma unroll
        for (int step = 0; step < S::STEPS; step++) {
            const int all = chunk * S::STEPS + step, group = K::group_of_step(all);
            const bool first = step == 0 || K::group_of_step(all - 1) != group;
            uint32_t b[2], lower[2];
            K::template load_key<S::PACKED>(codes, at, all, j, l);
            K::template key<S::PACKED>(codes, at, all, j, l, b, lower);
            mma_int8(c, q[step], b[0], b[1], first ? magic : c);
            if (K::SPLIT) mma_int8(c, q[step], lower[0], lower[1], c);
            if (step + 1 < S::STEPS && K::group_of_step(all + 1) == group) continue;
            s0 = fmaf(n[group - first_group][j], both_bytes(c[0], c[2]), s0);
            s1 = fmaf(n[group - first_group][2 + j], both_bytes(c[1], c[3]), s1);
        }
    }

    // What masks the lane's row.
    struct RowMask {
        const uint8_t *added; // the mask's row
        float slope;          // in units of log2
        uint32_t position;
    };
    __device__ __forceinline__ RowMask row_mask(const Item &it) const {
        const QueryRow q = query_row(p, it.kv_head, it.first_row + row);
        const uint32_t query = q.there ? q.query : 0;
        return {src.mask + it.seq * p.mask_seq + query * p.mask_row, mask_slope(p, q.head) * LOG2_E,
                p.first_position + query};
    }

    // Soft cap, mask and what a query cannot see, on scores in units of log2.
    __device__ __forceinline__ void mask_scores(float (&s)[QUADS][4], const RowMask &mask, uint32_t token,
                                                int left) const {
        if (p.soft_cap != 0)
#pragma unroll
            for (int u = 0; u < QUADS; u++)
#pragma unroll
                for (int i = 0; i < 4; i++) s[u][i] = logit(p, s[u][i]);
        if (p.flags & AttentionParams::MASK) {
            const bool fours = ((uintptr_t)mask.added & 7) == 0 && left >= TOKENS;
#pragma unroll
            for (int u = 0; u < QUADS; u++) {
                const int at = 16 * u + 4 * l.t4;
                const uint8_t *from = mask.added + 2 * (size_t)(token + at);
                uint32_t half[4];
                if (fours) {
                    const uint2 w = *(const uint2 *)from;
                    half[0] = w.x & 0xffff, half[1] = w.x >> 16, half[2] = w.y & 0xffff, half[3] = w.y >> 16;
                } else {
#pragma unroll
                    for (int i = 0; i < 4; i++) half[i] = at + i < left ? *(const uint16_t *)(from + 2 * i) : 0;
                }
#pragma unroll
                for (int i = 0; i < 4; i++) s[u][i] = fmaxf(fmaf(half_bits(half[i]), mask.slope, s[u][i]), HIDDEN);
            }
        }
        if (left >= TOKENS && !(p.flags & (AttentionParams::CAUSAL | AttentionParams::WINDOW))) return;
#pragma unroll
        for (int u = 0; u < QUADS; u++)
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const int at = 16 * u + 4 * l.t4 + i;
                const bool later = (p.flags & AttentionParams::CAUSAL) && token + at > mask.position;
                const bool earlier = (p.flags & AttentionParams::WINDOW) && token + at + p.window <= mask.position;
                if (at >= left || later || earlier) s[u][i] = HIDDEN;
            }
    }

    // Scores to weights below 1, relative to the tile's largest. Returns that; the sums so far are scaled if it is new.
    __device__ __forceinline__ float weigh(float (&s)[QUADS][4]) {
        constexpr float ROOM = V::HALF ? 8.0f : 20.0f; // float32 has it, so that scaling is rare
        float largest = LOWEST_MAX;
#pragma unroll
        for (int u = 0; u < QUADS; u++)
#pragma unroll
            for (int i = 0; i < 4; i++) largest = fmaxf(largest, s[u][i]);
        largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, 1));
        largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, 2));
        if (__any_sync(~0u, largest > m + ROOM)) {
            const float now = fmaxf(largest, m), shrink = exp2_fast(m - now);
            m = now;
            total *= shrink;
            float columns[2];
            to_columns(shrink, columns);
#pragma unroll
            for (int t = 0; t < TILES; t++)
#pragma unroll
                for (int i = 0; i < ACC; i++) acc[t][i] *= columns[ACC == 4 ? i % 2 : 0];
        }
        const float share = exp2_fast(largest - m);
        float sum = 0;
#pragma unroll
        for (int u = 0; u < QUADS; u++)
#pragma unroll
            for (int i = 0; i < 4; i++) {
                s[u][i] = exp2_fast(s[u][i] - largest);
                sum += s[u][i];
            }
        total = fmaf(sum, share, total);
        return share;
    }

    // A number of each row to the lanes whose columns are the row's.
    __device__ __forceinline__ void to_columns(float x, float (&columns)[2]) const {
        columns[0] = __shfl_sync(~0u, x, 8 * l.t4);
        columns[1] = HEADS == 4 ? columns[0] : __shfl_sync(~0u, x, 8 * l.t4 + 4);
    }

    // acc += weights * values. `largest` bounds the size of the values' scales.
    __device__ __forceinline__ void add_values(const uint8_t *rows, const float (&w)[QUADS][4], float share,
                                               float largest) {
        if constexpr (V::HALF)
            add_halves(rows, w, share);
        else
            add_ints(rows, w, share, largest);
    }

    __device__ __forceinline__ void add_ints(const uint8_t *rows, const float (&w)[QUADS][4], float share,
                                             float largest) {
        const float up = largest > 0 ? fminf(LARGEST_16 / largest, 3e38f) : 0.0f;
        float columns[2];
        to_columns(share * largest * (1.0f / 127.0f), columns);
        constexpr int PLANES = HEADS == 4 ? 1 : 2; // with eight heads both bytes are operands of their own
        const bool low = HEADS == 4 && l.g % 2;
        const float offset = MAGIC_FLOAT + (low ? 0.0f : 128.0f);
        const uint32_t take = low ? 0x4040 : 0x5151;
        constexpr int TILES_A_GROUP = TILES / VG;
#pragma unroll
        for (int group = 0; group < VG; group++) {
            uint32_t b[QUADS][PLANES];
#pragma unroll
            for (int u = 0; u < QUADS; u++) {
                uint32_t x[4], y[4];
                float scale[4];
                read_scale(group, u, scale);
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    const float scaled = w[u][i] * up;
                    x[i] = __float_as_uint(fmaf(scaled, scale[i], offset));
                    if (PLANES == 2) y[i] = __float_as_uint(fmaf(scaled, scale[i], MAGIC_FLOAT));
                }
                b[u][0] = permute(permute(x[0], x[1], take), permute(x[2], x[3], take), 0x5410);
                if (PLANES == 2)
                    b[u][PLANES - 1] = permute(permute(y[0], y[1], 0x4040), permute(y[2], y[3], 0x4040), 0x5410);
            }
#pragma unroll
            for (int first_tile = 0; first_tile < TILES_A_GROUP; first_tile += V::LOAD_TILES) {
                typename V::ValueCodes codes[QUADS];
                const int tile0 = group * TILES_A_GROUP + first_tile;
#pragma unroll
                for (int u = 0; u < QUADS; u++)
                    V::template load_value<S::PACKED>(codes[u], rows + Values::offset(16 * u), value_rows(), tile0, l);
#pragma unroll
                for (int t = 0; t < V::LOAD_TILES; t++) {
                    int c[PLANES][4];
#pragma unroll
                    for (int u = 0; u < QUADS; u += 2)
#pragma unroll
                        for (int part = 0; part < (V::SPLIT ? 2 : 1); part++) {
                            const uint32_t a[4] = {
                                V::template value<S::PACKED>(codes[u], tile0 + t, 0, part == 0, l),
                                V::template value<S::PACKED>(codes[u], tile0 + t, 1, part == 0, l),
                                V::template value<S::PACKED>(codes[u + 1], tile0 + t, 0, part == 0, l),
                                V::template value<S::PACKED>(codes[u + 1], tile0 + t, 1, part == 0, l)};
#pragma unroll
                            for (int plane = 0; plane < PLANES; plane++)
                                mma_int8(c[plane], a, b[u][plane], b[u + 1][plane],
                                         u == 0 && part == 0 ? magic : c[plane]);
                        }
                    float *sum = acc[tile0 + t];
#pragma unroll
                    for (int half = 0; half < 2; half++) {
                        const int e = 2 * half;
                        if (HEADS == 4) {
                            sum[half] = fmaf(both_bytes(c[0][e], c[0][e + 1]), columns[0], sum[half]);
                        } else {
                            sum[e] = fmaf(both_bytes(c[0][e], c[PLANES - 1][e]), columns[0], sum[e]);
                            sum[e + 1] = fmaf(both_bytes(c[0][e + 1], c[PLANES - 1][e + 1]), columns[1], sum[e + 1]);
                        }
                    }
                }
                keep_loads_here();
            }
        }
    }

    __device__ __forceinline__ void add_halves(const uint8_t *rows, const float (&w)[QUADS][4], float share) {
        constexpr int PLANES = HEADS == 4 ? 1 : 2;
        uint32_t b[QUADS][2][PLANES];
#pragma unroll
        for (int u = 0; u < QUADS; u++)
#pragma unroll
            for (int i = 0; i < 2; i++) {
                const float x = w[u][2 * i] * share, y = w[u][2 * i + 1] * share;
                const uint32_t high = pack_halves(x, y);
                const uint32_t low = pack_halves(x - half_bits(high & 0xffff), y - half_bits(high >> 16));
                b[u][i][0] = HEADS == 4 && l.g % 2 ? low : high;
                if (PLANES == 2) b[u][i][PLANES - 1] = low;
            }
#pragma unroll
        for (int t = 0; t < TILES; t++)
#pragma unroll
            for (int u = 0; u < QUADS; u++) {
                const uint8_t *at = rows + Values::offset(16 * u) + 32 * t + 4 * l.g;
                const FourRows four = value_rows();
                uint32_t word[4], a[4];
#pragma unroll
                for (int i = 0; i < 4; i++) word[i] = lds32(at + four.at[i]);
                a[0] = permute(word[0], word[1], 0x5410);
                a[1] = permute(word[0], word[1], 0x7632);
                a[2] = permute(word[2], word[3], 0x5410);
                a[3] = permute(word[2], word[3], 0x7632);
#pragma unroll
                for (int plane = 0; plane < PLANES; plane++) mma_half(acc[t], a, b[u][0][plane], b[u][1][plane]);
            }
    }

    // Rows of halves that are not there must not be NaN.
    template <class Copies> __device__ __forceinline__ void clear_rows(uint8_t *stage, int size, int left) const {
        for (int at = Copies::offset(left < 0 ? 0 : left) + 4 * l.lane; at < size; at += 128)
            *(uint32_t *)(stage + at) = 0;
        bulk_fence();
        __syncwarp();
    }

    // Of the lane's four values of a quad; the compiler knows their distance where rows are packed.
    __device__ __forceinline__ FourRows value_rows() const {
        const int at = value_place[0];
        if constexpr (S::PACKED)
            return {{at, at + V::ROW, at + 2 * V::ROW, at + 3 * V::ROW}};
        else
            return {{at, value_place[1], value_place[2], value_place[3]}};
    }
    __device__ __forceinline__ void place_rows(const Item &it) {
        const uint8_t *k = k_head(it), *v = v_head(it);
#pragma unroll
        for (int j = 0; j < 2; j++) key_place[j] = keys.place(k, 2 * l.g + j);
#pragma unroll
        for (int i = 0; i < 4; i++) value_place[i] = values.place(v, 4 * l.t4 + i);
        key_scale_place = keys.place(k, l.lane);
        value_scale_place = values.place(v, l.lane);
    }

    __device__ __forceinline__ void work_on_tile(uint32_t tile, uint32_t first_tile, const RowMask &mask,
                                                 float query_scale, uint32_t phase) {
        const uint32_t token = (range.first_tile + tile - first_tile) * TOKENS;
        const int left = (int)p.n_kv - (int)token;
        float s[QUADS][4];

        barrier_wait(bars, phase);
        if constexpr (K::HALF) {
            if (left < TOKENS) clear_rows<Keys>(k_stage, S::K_STAGE, left);
        } else {
            read_scales<K, Keys>(k_stage, key_scale_place, left);
            __syncwarp();
        }
        score(k_stage, s);
        __syncwarp();
        begin_copies(tile + WARPS, false);

#pragma unroll
        for (int u = 0; u < QUADS; u++)
#pragma unroll
            for (int i = 0; i < 4; i++) s[u][i] *= query_scale;
        if (left < TOKENS || p.flags || p.soft_cap != 0) mask_scores(s, mask, token, left);
        const float share = weigh(s);

        barrier_wait(bars + 1, phase);
        float largest = 0;
        if constexpr (V::HALF) {
            if (left < TOKENS) clear_rows<Values>(v_stage, S::V_STAGE, left);
        } else {
            largest = read_scales<V, Values>(v_stage, value_scale_place, left);
            largest = __uint_as_float(__reduce_max_sync(~0u, __float_as_uint(largest)));
            __syncwarp();
            if (!(largest < 3e38f)) largest = 65504.0f;
        }
        add_values(v_stage, s, share, largest);
        __syncwarp();
        begin_copies(tile + WARPS, true);
    }

    // The sums of the block's warps to `sums` [HEADS][D] and its maxima and totals to `maxima` [HEADS][2], in shared
    // memory. Half of the warps give theirs to the others; then a thread an output adds up what those have.
    __device__ __forceinline__ void merge_warps(float *sums, float *maxima) {
        total += __shfl_xor_sync(~0u, total, 1);
        total += __shfl_xor_sync(~0u, total, 2);
        if (l.t4 == 0 && (HEADS == 8 || l.g % 2 == 0)) {
            warp_sums()[(warp * HEADS + row) * 2] = m;
            warp_sums()[(warp * HEADS + row) * 2 + 1] = total;
        }
        __syncthreads();
        float largest = LOWEST_MAX;
#pragma unroll
        for (int w = 0; w < WARPS; w++) largest = fmaxf(largest, warp_sums()[(w * HEADS + row) * 2]);
        float columns[2];
        to_columns(exp2_fast(m - largest) * V::UNIT, columns);
        if (warp == 0 && l.t4 == 0 && (HEADS == 8 || l.g % 2 == 0)) {
            float all = 0;
#pragma unroll
            for (int w = 0; w < WARPS; w++)
                all += warp_sums()[(w * HEADS + row) * 2 + 1] * exp2_fast(warp_sums()[(w * HEADS + row) * 2] - largest);
            maxima[2 * row] = largest;
            maxima[2 * row + 1] = all;
        }
        constexpr int HALF = (WARPS + 1) / 2, COUNT = TILES * OUT;
        float out[COUNT];
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            const int t = i / OUT, e = i % OUT;
            if constexpr (ACC == OUT)
                out[i] = acc[t][e] * columns[OUT == 4 ? e % 2 : 0];
            else
                out[i] = (acc[t][2 * e] + acc[t][2 * e + 1]) * columns[0];
        }
        float *slots = working();
        if (warp >= HALF)
#pragma unroll
            for (int i = 0; i < COUNT; i++) slots[((warp - HALF) * COUNT + i) * 32 + l.lane] = out[i];
        __syncthreads();
        if (warp < HALF)
#pragma unroll
            for (int i = 0; i < COUNT; i++) {
                float *slot = slots + (warp * COUNT + i) * 32 + l.lane;
                *slot = out[i] + (warp + HALF < WARPS ? *slot : 0.0f);
            }
        __syncthreads();
        for (int at = threadIdx.x; at < HEADS * D; at += S::THREADS) {
            float sum = 0;
#pragma unroll
            for (int w = 0; w < HALF; w++) sum += slots[w * COUNT * 32 + at];
            const int g = at % 32 / 4, t4 = at % 4, e = at / 32 % OUT, tile = at / 32 / OUT;
            const int half = HEADS == 4 ? e : e / 2, head = HEADS == 4 ? t4 : 2 * t4 + e % 2;
            sums[head * D + value_dim(tile, g, half)] = sum;
        }
        __syncthreads();
    }

    __device__ __forceinline__ float *block_sums() const { return (float *)(shared + S::AT_SUMS); }
    __device__ __forceinline__ float *block_maxima() const { return (float *)(shared + S::AT_MAXIMA); }

    // The block's share of an item: the result, or a part of it.
    __device__ __forceinline__ void finish_item(uint32_t i, const Item &it, uint32_t exact_parts) {
        float *sums = block_sums(), *maxima = block_maxima();
        merge_warps(sums, maxima);
        const uint32_t first_group = group_of(i * range.tiles), parts = parts_of(i);
        if (parts == 1 && exact_parts == 0) {
            write_rows(it, sums, nullptr, maxima);
            return;
        }
        float *mine_out = part(i, group - first_group);
        for (int at = threadIdx.x; at < HEADS * D; at += S::THREADS) __stcg(mine_out + at, sums[at]);
        if (threadIdx.x < HEADS) {
            __stcg(mine_out + HEADS * D + threadIdx.x, maxima[2 * threadIdx.x]);
            __stcg(mine_out + HEADS * D + HEADS + threadIdx.x, maxima[2 * threadIdx.x + 1]);
        }
        __threadfence();
        __syncthreads();
        uint32_t *flag = (uint32_t *)(shared + S::AT_FLAG);
        if (threadIdx.x == 0) {
            const uint32_t before = atomicAdd(counter(i), 1u);
            *flag = before + 1 == parts;
            if (before + 1 == parts) *counter(i) = 0;
        }
        __syncthreads();
        if (*flag) merge_parts(i, it, parts, exact_parts);
    }

    static __device__ __forceinline__ int value_dim(int tile, int g, int half) {
        if constexpr (V::HALF)
            return 16 * tile + 2 * g + half;
        else
            return V::value_dim(tile, g, half);
    }

    // Factor and total of each part, then the sums; those of the exact window stay in the original basis.
    __device__ __forceinline__ void merge_parts(uint32_t i, const Item &it, uint32_t parts, uint32_t exact_parts) {
        __threadfence();
        const uint32_t all = parts + exact_parts;
        const float *const base = part(i, 0);
        float *maxima = block_maxima(), *factors = working(); // [all][2 HEADS]: maxima, then totals
        for (uint32_t at = threadIdx.x; at < all * 2 * HEADS; at += S::THREADS)
            factors[at] = __ldcg(base + (size_t)(at / (2 * HEADS)) * PART + HEADS * D + at % (2 * HEADS));
        __syncthreads();
        for (int r = warp; r < HEADS; r += WARPS) {
            float largest = LOWEST_MAX, sum = 0;
            for (uint32_t n = l.lane; n < all; n += 32) largest = fmaxf(largest, factors[n * 2 * HEADS + r]);
#pragma unroll
            for (int h = 1; h < 32; h *= 2) largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, h));
            for (uint32_t n = l.lane; n < all; n += 32) {
                float *factor = factors + n * 2 * HEADS + r;
                *factor = exp2_fast(*factor - largest);
                sum += *factor * factor[HEADS];
            }
            sum = sum_lanes(sum);
            if (l.lane == 0) maxima[2 * r] = largest, maxima[2 * r + 1] = sum;
        }
        __syncthreads();
        constexpr int PER = (HEADS * D + S::THREADS - 1) / S::THREADS;
        float coded[PER], exact[PER];
#pragma unroll
        for (int k = 0; k < PER; k++) {
            const int at = threadIdx.x + k * S::THREADS;
            coded[k] = exact[k] = 0;
            if (at >= HEADS * D) continue;
#pragma unroll 8
            for (uint32_t n = 0; n < parts; n++)
                coded[k] += factors[n * 2 * HEADS + at / D] * __ldcg(base + (size_t)n * PART + at);
            for (uint32_t n = parts; n < all; n++)
                exact[k] += factors[n * 2 * HEADS + at / D] * __ldcg(base + (size_t)n * PART + at);
        }
        __syncthreads();
        float *sums = block_sums(), *exact_sums = sums + HEADS * D;
#pragma unroll
        for (int k = 0; k < PER; k++) {
            const int at = threadIdx.x + k * S::THREADS;
            if (at >= HEADS * D) continue;
            sums[at] = coded[k];
            if (exact_parts) exact_sums[at] = exact[k];
        }
        __syncthreads();
        write_rows(it, sums, exact_parts ? exact_sums : nullptr, maxima);
    }

    // Back to the original basis, sinks, the division. maxima: [HEADS] of largest score and total.
    __device__ __forceinline__ void write_rows(const Item &it, const float *sums, const float *exact,
                                               const float *maxima) const {
        for (int r = warp; r < HEADS; r += WARPS) {
            const QueryRow q = query_row(p, it.kv_head, it.first_row + r);
            float x[N];
#pragma unroll
            for (int i = 0; i < N; i++) x[i] = sums[r * D + l.lane + 32 * i];
            if (V::ROTATION == Rotation::signed_tile) rotate_tiles<N>(x, V::TILE, l.lane, false);
            if (!q.there) continue;
            const float largest = maxima[2 * r];
            float all = maxima[2 * r + 1], factor = 1;
            if (p.flags & AttentionParams::SINKS) {
                const float sink = src.sinks[q.head] * LOG2_E, now = fmaxf(largest, sink);
                factor = exp2_fast(largest - now);
                all = all * factor + exp2_fast(sink - now);
            }
            const float share = all == 0 ? 0.0f : factor / all;
            float *to = src.out + (((size_t)it.seq * p.n_query + q.query) * p.n_head + q.head) * D;
#pragma unroll
            for (int i = 0; i < N; i++)
                to[l.lane + 32 * i] = (x[i] + (exact ? exact[r * D + l.lane + 32 * i] : 0.0f)) * share;
        }
    }

    __device__ __forceinline__ void run() {
        if (l.lane < 2) barrier_init(bars + l.lane, keys.LANES);
        if (l.lane == 0) ((Cursor *)(shared + S::AT_CURSORS) + warp)->end = 0;
        barrier_inits_done();
        __syncwarp();
        float query[N]; // before the copies: behind them it would wait for megabytes
        load_query(item(first / range.tiles), warp, query);
        if (S::CODEBOOKS) spread_codebooks<S::ODD_RATE>(src.codebooks, shared + S::AT_CODEBOOKS, warp, WARPS, l.lane);
        begin_copies(first + warp, false);
        begin_copies(first + warp, true);
        uint32_t phase = 0, tile = first + warp;
        for (uint32_t i = first / range.tiles; i * range.tiles < last; i++) {
            const Item it = item(i);
            const uint32_t begin = i * range.tiles, end = begin + range.tiles < last ? begin + range.tiles : last;
            if (begin > first) load_query(it, warp, query);
            prepare_queries(it, query);
            // A zero query has scores of zero, whatever it is multiplied by.
            const float query_scale =
                query_scales()[row] * (K::HALF ? 1.0f : 1.0f / 127.0f) * K::UNIT * p.scale * LOG2_E;
            const RowMask mask = row_mask(it);
            place_rows(it);
            m = LOWEST_MAX;
            total = 0;
#pragma unroll
            for (int t = 0; t < TILES; t++)
#pragma unroll
                for (int k = 0; k < ACC; k++) acc[t][k] = 0;
            const uint32_t exact_parts = p.n_exact ? WARPS : 0;
            if (exact_parts && begin >= first)
                exact_part<D, HEADS>(src, p, it.seq, it.kv_head, it.first_row, warp, WARPS, l.lane,
                                     part(i, parts_of(i) + warp));
            for (; tile < end; tile += WARPS, phase ^= 1) work_on_tile(tile, begin, mask, query_scale, phase);
            __syncthreads();
            finish_item(i, it, exact_parts);
            __syncthreads();
        }
    }
};

// For each pair of types and head size one kernel, with four and with eight rows of queries a pass.
template <class S>
DEVICE void decode_attention(const AttentionSources &sources, const AttentionParams &params, uint8_t *memory) {
    DecodeAttention<S> attention(sources, params, memory);
    attention.run();
}

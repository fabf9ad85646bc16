// Attention of many queries: blocks of rows of queries (positions and heads of a KV head) over tiles of keys and values
// that a block decodes to halves once for all of its rows.
//
// Groups of rows times two halves of a tile's tokens. Scores come out where the product of weights and
// values wants its left operand, since a tile's operands are laid out for it (half_operands.cuh). While one half of the
// warps decodes the next tile the other multiplies. The halves' sums meet at the end; then rows are turned back to the
// original basis and get what the exact window gives.
#pragma once
#include "attention_rows.cuh"
#include "attention_shape.cuh"
#include "codebooks.cuh"
#include "exact_window.cuh"
#include "half_operands.cuh"
#include "head_rotation.cuh"

template <int D_, class K_, class V_> struct PrefillShape {
    using K = K_;
    using V = V_;
    static constexpr int D = D_, TILES = D / 16, STEPS = D / 32;
    static constexpr int M_TILES = 1; // of 16 rows a warp
    static constexpr int ROW_GROUPS = D <= 128 ? 8 : 4, WARPS = 2 * ROW_GROUPS, THREADS = WARPS * 32;
    static constexpr int ROWS = 16 * M_TILES * ROW_GROUPS, TOKENS = ROWS / 2, QUADS = TOKENS / 16;
    // Warps that share the decoding of sixteen tokens' values.
    static BOTH_SIDES constexpr int sharers() {
        if constexpr (V::HALF)
            return ROW_GROUPS / QUADS;
        else
            return TILES % (ROW_GROUPS / QUADS * V::LOAD_TILES) == 0 ? ROW_GROUPS / QUADS : 1;
    }
    static constexpr bool CODEBOOKS = UsesCodebook<K>::VALUE || UsesCodebook<V>::VALUE;
    static constexpr int ODD_RATE = larger(UsesCodebook<K>::ODD, UsesCodebook<V>::ODD);

    using Keys = RowCopies<K::ROW, false>;
    using Values = RowCopies<V::ROW, false>;
    static constexpr int K_STAGE = round_up(Keys::offset(TOKENS) + 16, 128);
    static constexpr int V_STAGE = round_up(Values::offset(TOKENS) + 16, 128);
    static constexpr int OPERANDS = TOKENS * D * 2; // bytes, of a tile's keys or values
    static constexpr int AT_QUERIES = 4 * OPERANDS; // before them two tiles' keys and values; also floats [ROWS][D]
    static constexpr int AT_STAGES = AT_QUERIES + ROWS * D * 2;
    static constexpr int AT_MAXIMA = AT_STAGES + 2 * (K_STAGE + V_STAGE); // float [ROWS][2]
    static constexpr int AT_BARRIERS = AT_MAXIMA + ROWS * 8;
    static constexpr int AT_CODEBOOKS = round_up(AT_BARRIERS + 32, 128);
    static constexpr int SHARED = AT_CODEBOOKS + (CODEBOOKS ? 512 * 128 : 0);
    static constexpr bool FITS = D <= 256 && SHARED <= SHARED_LIMIT;
    static_assert(ROWS * D * 4 <= 4 * OPERANDS);
};

template <class S> struct PrefillAttention {
    using K = typename S::K;
    using V = typename S::V;
    static constexpr int D = S::D, N = D / 32, TILES = S::TILES, STEPS = S::STEPS, ROWS = S::ROWS;
    static constexpr int TOKENS = S::TOKENS, M_TILES = S::M_TILES, HALF_QUADS = S::QUADS / 2;

    const AttentionSources &src;
    const AttentionParams &p;
    uint8_t *const shared;
    const int warp, row_group, half;
    Lane l;
    typename S::Keys keys;
    typename S::Values values;
    uint32_t seq, kv_head, first_row;
    const uint8_t *k_head, *v_head;
    uint32_t first_token, tiles;
    float acc[M_TILES][TILES][2][4];
    float m[M_TILES][2], total[M_TILES][2]; // of rows g and g + 8

    __device__ __forceinline__ uint64_t *barrier(int stage, int of_values) const {
        return (uint64_t *)(shared + S::AT_BARRIERS) + 2 * stage + of_values;
    }
    __device__ __forceinline__ uint8_t *stage(int n) const {
        return shared + S::AT_STAGES + n * (S::K_STAGE + S::V_STAGE);
    }
    __device__ __forceinline__ uint4 *key_tile(int n) const { return (uint4 *)(shared + 2 * n * S::OPERANDS); }
    __device__ __forceinline__ uint4 *value_tile(int n) const { return (uint4 *)(shared + (2 * n + 1) * S::OPERANDS); }
    __device__ __forceinline__ float *rows_of_floats() const { return (float *)shared; }
    __device__ __forceinline__ uint4 *query_operands() const { return (uint4 *)(shared + S::AT_QUERIES); }
    __device__ __forceinline__ float *maxima() const { return (float *)(shared + S::AT_MAXIMA); }

    __device__ __forceinline__ PrefillAttention(const AttentionSources &sources, const AttentionParams &params,
                                                uint8_t *memory)
        : src(sources), p(params), shared(memory), warp(threadIdx.x / 32), row_group(warp % S::ROW_GROUPS),
          half(warp / S::ROW_GROUPS), keys(sources.k, params.k, params), values(sources.v, params.v, params) {
        l.lane = threadIdx.x % 32;
        l.g = l.lane / 4;
        l.t4 = l.lane % 4;
        l.codebooks = shared + S::AT_CODEBOOKS;
        const uint32_t rows = p.n_query * (p.n_head / p.n_head_kv), chunks = (rows + ROWS - 1) / ROWS;
        const uint32_t head = blockIdx.x / chunks;
        // The last rows see most, and begin first.
        first_row = (chunks - 1 - blockIdx.x % chunks) * ROWS;
        seq = head / p.n_head_kv;
        kv_head = head % p.n_head_kv;
        k_head = src.k + seq * p.k.seq + kv_head * p.k.head;
        v_head = src.v + seq * p.v.seq + kv_head * p.v.head;
        const uint32_t group = p.n_head / p.n_head_kv, last_row = first_row + ROWS < rows ? first_row + ROWS : rows;
        const VisibleRange range = visible_range<TOKENS>(p, first_row / group, (last_row - 1) / group);
        first_token = range.first_tile * TOKENS;
        tiles = range.tiles;
    }

    __device__ __forceinline__ void begin_copies(uint32_t n) const {
        if (n >= tiles || row_group != 0) return;
        const uint32_t token = first_token + n * TOKENS;
        const int left = (int)p.n_kv - (int)token, count = left < 0 ? 0 : left < TOKENS ? left : TOKENS;
        if (half == 0)
            keys.begin(stage(n % 2), k_head, token, count, l.lane, barrier(n % 2, 0));
        else
            values.begin(stage(n % 2) + S::K_STAGE, v_head, token, count, l.lane, barrier(n % 2, 1));
    }

    // The first half of the warps decodes the tile's keys, the second its values.
    __device__ __forceinline__ void decode_tile(uint32_t n) const {
        if (n >= tiles) return;
        const int left = (int)p.n_kv - (int)(first_token + n * TOKENS);
        barrier_wait(barrier(n % 2, half), n / 2 % 2);
        if (half == 0) {
            for (int i = row_group; i < TOKENS / 8; i += S::ROW_GROUPS) {
                const int token = i / 2 * 16 + 2 * l.g + i % 2;
                key_operands<K, STEPS>(key_tile(n % 2) + i * STEPS * 32, stage(n % 2) + keys.place(k_head, token),
                                       i % 2, token < left, l);
            }
        } else {
            constexpr int SHARERS = S::sharers(), COUNT = TILES / SHARERS;
            if (row_group >= S::QUADS * SHARERS) return;
            const int quad = row_group / SHARERS, token = 16 * quad + 4 * l.t4;
            FourRows four;
#pragma unroll
            for (int i = 0; i < 4; i++) four.at[i] = values.place(v_head, token + i);
            uint4 *to = value_tile(n % 2) + quad * TILES * 32;
            const uint8_t *from = stage(n % 2) + S::K_STAGE;
            if (SHARERS == 1 || row_group % 2 == 0)
                value_operands<V, COUNT>(to, from, four, 0, left - token, l);
            else
                value_operands<V, COUNT>(to, from, four, TILES - COUNT, left - token, l);
        }
    }

    // The rows of queries in the keys' basis, times the scale of logits in units of log2, as left operands.
    __device__ __forceinline__ void prepare_queries() const {
        float *turned = rows_of_floats();
        for (int r = warp; r < ROWS; r += S::WARPS) {
            const QueryRow q = query_row(p, kv_head, first_row + r);
            const uint8_t *from = src.q + seq * p.q.seq + q.head * p.q.head + q.query * p.q.row + 4 * l.lane;
            float x[N];
#pragma unroll
            for (int i = 0; i < N; i++) x[i] = q.there ? *(const float *)(from + 128 * i) * (p.scale * LOG2_E) : 0.0f;
            if (K::ROTATION == Rotation::signed_tile) rotate_tiles<N>(x, K::TILE, l.lane, true);
#pragma unroll
            for (int i = 0; i < N; i++) turned[r * D + l.lane + 32 * i] = x[i];
        }
        __syncthreads();
        for (int at = threadIdx.x; at < ROWS * D / 8; at += S::THREADS) {
            const int lane = at % 32, sub = at / 32 % 2, step = at / 64 % STEPS, tile = at / 64 / STEPS;
            const float *low = turned + (tile * 16 + lane / 4) * D, *high = low + 8 * D;
            int d[4];
#pragma unroll
            for (int i = 0; i < 4; i++) d[i] = half_key_dim<K>(step, lane % 4, 4 * sub + i);
            query_operands()[at] = uint4{pack_halves(low[d[0]], low[d[1]]), pack_halves(high[d[0]], high[d[1]]),
                                         pack_halves(low[d[2]], low[d[3]]), pack_halves(high[d[2]], high[d[3]])};
        }
        __syncthreads();
    }

    // s[quad and token's parity][0, 1 of row g, 2, 3 of g + 8], of the warp's half of the tile.
    __device__ __forceinline__ void score(int n, float (&s)[M_TILES][2 * HALF_QUADS][4]) const {
#pragma unroll
        for (int i = 0; i < M_TILES; i++)
#pragma unroll
            for (int j = 0; j < 2 * HALF_QUADS; j++)
#pragma unroll
                for (int e = 0; e < 4; e++) s[i][j][e] = 0;
        const uint4 *queries = query_operands() + row_group * M_TILES * STEPS * 64 + l.lane;
        const uint4 *rows = key_tile(n) + half * 2 * HALF_QUADS * STEPS * 32 + l.lane;
#pragma unroll
        for (int step = 0; step < STEPS; step++) {
            uint32_t q[M_TILES][2][4];
#pragma unroll
            for (int i = 0; i < M_TILES; i++)
#pragma unroll
                for (int sub = 0; sub < 2; sub++) {
                    const uint4 w = queries[(i * STEPS + step) * 64 + sub * 32];
                    q[i][sub][0] = w.x, q[i][sub][1] = w.y, q[i][sub][2] = w.z, q[i][sub][3] = w.w;
                }
            uint4 b[2 * HALF_QUADS];
#pragma unroll
            for (int j = 0; j < 2 * HALF_QUADS; j++) b[j] = rows[(j * STEPS + step) * 32];
                // Neighbours do not wait for each other.
#pragma unroll
            for (int j = 0; j < 2 * HALF_QUADS; j++)
#pragma unroll
                for (int i = 0; i < M_TILES; i++) mma_half(s[i][j], q[i][0], b[j].x, b[j].y);
#pragma unroll
            for (int j = 0; j < 2 * HALF_QUADS; j++)
#pragma unroll
                for (int i = 0; i < M_TILES; i++) mma_half(s[i][j], q[i][1], b[j].z, b[j].w);
        }
    }

    __device__ __forceinline__ QueryRow row_of(int i, int high) const {
        return query_row(p, kv_head, first_row + (row_group * M_TILES + i) * 16 + l.g + 8 * high);
    }

    // Soft cap, mask and what a query cannot see.
    __device__ __forceinline__ void mask_scores(float (&s)[M_TILES][2 * HALF_QUADS][4], uint32_t token,
                                                int left) const {
#pragma unroll
        for (int i = 0; i < M_TILES; i++)
#pragma unroll
            for (int high = 0; high < 2; high++) {
                const QueryRow q = row_of(i, high);
                const uint32_t query = q.there ? q.query : 0, position = p.first_position + query;
                const uint8_t *added = src.mask + seq * p.mask_seq + query * p.mask_row;
                const float slope = p.max_bias > 0 ? mask_slope(p, q.head) * LOG2_E : LOG2_E;
#pragma unroll
                for (int u = 0; u < HALF_QUADS; u++) {
                    const uint32_t at = token + 16 * (half * HALF_QUADS + u) + 4 * l.t4;
                    uint32_t bits[4] = {};
                    if (p.flags & AttentionParams::MASK) {
                        const uint8_t *from = added + 2 * (size_t)at;
                        if (((uintptr_t)from & 7) == 0 && left >= TOKENS) {
                            const uint2 w = *(const uint2 *)from;
                            bits[0] = w.x & 0xffff, bits[1] = w.x >> 16, bits[2] = w.y & 0xffff, bits[3] = w.y >> 16;
                        } else {
#pragma unroll
                            for (int k = 0; k < 4; k++)
                                bits[k] = at + k < p.n_kv ? *(const uint16_t *)(from + 2 * k) : 0;
                        }
                    }
#pragma unroll
                    for (int k = 0; k < 4; k++) {
                        float &x = s[i][2 * u + k % 2][2 * high + k / 2];
                        x = fmaxf(fmaf(half_bits(bits[k]), slope, logit(p, x)), HIDDEN);
                        const bool later = (p.flags & AttentionParams::CAUSAL) && at + k > position;
                        const bool earlier = (p.flags & AttentionParams::WINDOW) && at + k + p.window <= position;
                        if (at + k >= p.n_kv || later || earlier) x = HIDDEN;
                    }
                }
            }
    }

    // Scores to weights relative to the rows' largest so far; the sums are scaled where that grows much.
    __device__ __forceinline__ void weigh(float (&s)[M_TILES][2 * HALF_QUADS][4]) {
        constexpr float ROOM = 8.0f; // halves have it, so that scaling is rare
#pragma unroll
        for (int i = 0; i < M_TILES; i++) {
            float largest[2] = {LOWEST_MAX, LOWEST_MAX};
#pragma unroll
            for (int j = 0; j < 2 * HALF_QUADS; j++)
#pragma unroll
                for (int e = 0; e < 4; e++) largest[e / 2] = fmaxf(largest[e / 2], s[i][j][e]);
#pragma unroll
            for (int high = 0; high < 2; high++) {
                largest[high] = fmaxf(largest[high], __shfl_xor_sync(~0u, largest[high], 1));
                largest[high] = fmaxf(largest[high], __shfl_xor_sync(~0u, largest[high], 2));
            }
            if (__any_sync(~0u, largest[0] > m[i][0] + ROOM || largest[1] > m[i][1] + ROOM)) {
                float shrink[2];
#pragma unroll
                for (int high = 0; high < 2; high++) {
                    const float now = fmaxf(largest[high], m[i][high]);
                    shrink[high] = exp2_fast(m[i][high] - now);
                    m[i][high] = now;
                    total[i][high] *= shrink[high];
                }
#pragma unroll
                for (int t = 0; t < TILES; t++)
#pragma unroll
                    for (int e = 0; e < 8; e++) acc[i][t][e / 4][e % 4] *= shrink[e % 4 / 2];
            }
#pragma unroll
            for (int j = 0; j < 2 * HALF_QUADS; j++)
#pragma unroll
                for (int e = 0; e < 4; e++) {
                    s[i][j][e] = exp2_fast(s[i][j][e] - m[i][e / 2]);
                    total[i][e / 2] += s[i][j][e];
                }
        }
    }

    __device__ __forceinline__ void add_values(int n, const float (&w)[M_TILES][2 * HALF_QUADS][4]) {
        const uint4 *rows = value_tile(n) + half * HALF_QUADS * TILES * 32 + l.lane;
#pragma unroll
        for (int u = 0; u < HALF_QUADS; u++) {
            uint32_t a[M_TILES][4];
#pragma unroll
            for (int i = 0; i < M_TILES; i++) {
                a[i][0] = pack_halves(w[i][2 * u][0], w[i][2 * u + 1][0]);
                a[i][1] = pack_halves(w[i][2 * u][2], w[i][2 * u + 1][2]);
                a[i][2] = pack_halves(w[i][2 * u][1], w[i][2 * u + 1][1]);
                a[i][3] = pack_halves(w[i][2 * u][3], w[i][2 * u + 1][3]);
            }
#pragma unroll
            for (int t = 0; t < TILES; t++) {
                const uint4 b = rows[(u * TILES + t) * 32];
#pragma unroll
                for (int i = 0; i < M_TILES; i++) {
                    mma_half(acc[i][t][0], a[i], b.x, b.y);
                    mma_half(acc[i][t][1], a[i], b.z, b.w);
                }
            }
        }
    }

    __device__ __forceinline__ void work_on_tile(uint32_t n) {
        float s[M_TILES][2 * HALF_QUADS][4];
        score(n % 2, s);
        const uint32_t token = first_token + n * TOKENS;
        const int left = (int)p.n_kv - (int)token;
        if (left < TOKENS || (p.flags & ~AttentionParams::SINKS) || p.soft_cap != 0) mask_scores(s, token, left);
        weigh(s);
        add_values(n % 2, s);
    }

    // Both halves' sums to float [ROWS][D] in shared memory, maxima and totals beside them.
    __device__ __forceinline__ void join_halves() {
#pragma unroll
        for (int i = 0; i < M_TILES; i++)
#pragma unroll
            for (int high = 0; high < 2; high++) {
                total[i][high] += __shfl_xor_sync(~0u, total[i][high], 1);
                total[i][high] += __shfl_xor_sync(~0u, total[i][high], 2);
            }
        float *sums = rows_of_floats() + row_group * M_TILES * 16 * D + l.lane;
        float *pairs = maxima() + 2 * (row_group * M_TILES * 16 + l.g);
        if (half == 1) {
#pragma unroll
            for (int i = 0; i < M_TILES; i++) {
#pragma unroll
                for (int t = 0; t < TILES; t++)
#pragma unroll
                    for (int e = 0; e < 8; e++) sums[((i * TILES + t) * 8 + e) * 32] = acc[i][t][e / 4][e % 4];
                if (l.t4 == 0)
#pragma unroll
                    for (int high = 0; high < 2; high++) {
                        pairs[2 * (16 * i + 8 * high)] = m[i][high];
                        pairs[2 * (16 * i + 8 * high) + 1] = total[i][high];
                    }
            }
        }
        __syncthreads();
        if (half == 0) {
#pragma unroll
            for (int i = 0; i < M_TILES; i++) {
                float mine[2], other[2];
#pragma unroll
                for (int high = 0; high < 2; high++) {
                    const float there = pairs[2 * (16 * i + 8 * high)], now = fmaxf(m[i][high], there);
                    mine[high] = exp2_fast(m[i][high] - now);
                    other[high] = exp2_fast(there - now);
                    total[i][high] = total[i][high] * mine[high] + pairs[2 * (16 * i + 8 * high) + 1] * other[high];
                    m[i][high] = now;
                }
#pragma unroll
                for (int t = 0; t < TILES; t++)
#pragma unroll
                    for (int e = 0; e < 8; e++) {
                        float &x = acc[i][t][e / 4][e % 4];
                        x = x * mine[e % 4 / 2] + sums[((i * TILES + t) * 8 + e) * 32] * other[e % 4 / 2];
                    }
            }
        }
        __syncthreads();
        if (half == 0) {
#pragma unroll
            for (int i = 0; i < M_TILES; i++) {
                float *rows = rows_of_floats() + ((row_group * M_TILES + i) * 16 + l.g) * D;
#pragma unroll
                for (int t = 0; t < TILES; t++)
#pragma unroll
                    for (int e = 0; e < 8; e++)
                        rows[e % 4 / 2 * 8 * D + half_value_dim<V>(t, 2 * l.t4 + e % 2, e / 4)] =
                            acc[i][t][e / 4][e % 4];
                if (l.t4 == 0)
#pragma unroll
                    for (int high = 0; high < 2; high++) {
                        pairs[2 * (16 * i + 8 * high)] = m[i][high];
                        pairs[2 * (16 * i + 8 * high) + 1] = total[i][high];
                    }
            }
        }
        __syncthreads();
    }

    // Back to the original basis, the exact window, sinks, the division.
    __device__ __forceinline__ void write_rows() const {
        for (int r = warp; r < ROWS; r += S::WARPS) {
            const QueryRow q = query_row(p, kv_head, first_row + r);
            float x[N], exact[N] = {}, exact_max = LOWEST_MAX, exact_total = 0;
#pragma unroll
            for (int i = 0; i < N; i++) x[i] = rows_of_floats()[r * D + l.lane + 32 * i];
            if (V::ROTATION == Rotation::signed_tile) rotate_tiles<N>(x, V::TILE, l.lane, false);
            if (!q.there) continue;
            if (p.n_exact) exact_row<N>(src, p, seq, kv_head, q, 0, 1, l.lane, exact, exact_max, exact_total);
            const float sink = p.flags & AttentionParams::SINKS ? src.sinks[q.head] * LOG2_E : HIDDEN;
            const float largest = fmaxf(fmaxf(maxima()[2 * r], exact_max), sink);
            const float coded_share = exp2_fast(maxima()[2 * r] - largest),
                        exact_share = exp2_fast(exact_max - largest);
            const float all = maxima()[2 * r + 1] * coded_share + exact_total * exact_share + exp2_fast(sink - largest);
            const float share = all == 0 ? 0.0f : 1.0f / all;
            float *to = src.out + (((size_t)seq * p.n_query + q.query) * p.n_head + q.head) * D;
#pragma unroll
            for (int i = 0; i < N; i++) to[l.lane + 32 * i] = (x[i] * coded_share + exact[i] * exact_share) * share;
        }
    }

    __device__ __forceinline__ void run() {
        if (threadIdx.x < 4) barrier_init(barrier(threadIdx.x / 2, threadIdx.x % 2), 32);
        barrier_inits_done();
        __syncthreads();
        begin_copies(0);
        begin_copies(1);
        if (S::CODEBOOKS)
            spread_codebooks<S::ODD_RATE>(src.codebooks, shared + S::AT_CODEBOOKS, warp, S::WARPS, l.lane);
        prepare_queries();
#pragma unroll
        for (int i = 0; i < M_TILES; i++) {
#pragma unroll
            for (int high = 0; high < 2; high++) m[i][high] = LOWEST_MAX, total[i][high] = 0;
#pragma unroll
            for (int t = 0; t < TILES; t++)
#pragma unroll
                for (int e = 0; e < 8; e++) acc[i][t][e / 4][e % 4] = 0;
        }
        decode_tile(0);
        __syncthreads();
        begin_copies(2);
        for (uint32_t n = 0; n < tiles; n++) {
            if (half == 0) decode_tile(n + 1);
            work_on_tile(n);
            if (half == 1) decode_tile(n + 1);
            __syncthreads();
            begin_copies(n + 3);
        }
        join_halves();
        write_rows();
    }
};

template <class S>
DEVICE void prefill_attention(const AttentionSources &sources, const AttentionParams &params, uint8_t *memory) {
    if constexpr (S::FITS) {
        PrefillAttention<S> attention(sources, params, memory);
        attention.run();
    }
}

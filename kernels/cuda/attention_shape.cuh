// How the decode kernel lies in a multiprocessor: one block of as many warps as fit, each with a tile of keys and a
// tile of values of its own in shared memory.
#pragma once
#include "attention_types.cuh"
#include "row_copies.cuh"

constexpr int SHARED_LIMIT = 232448; // bytes a block may have on Hopper

BOTH_SIDES constexpr int round_up(int x, int to) { return (x + to - 1) / to * to; }
BOTH_SIDES constexpr int larger(int a, int b) { return a > b ? a : b; }

// HEADS: rows of queries that share a row of the cache, 4 or 8. PACKED: a head's rows lie together (row_copies.cuh).
template <int D_, class K_, class V_, int HEADS_, bool PACKED_> struct AttentionShape {
    using K = K_;
    using V = V_;
    static constexpr int D = D_, HEADS = HEADS_, BLOCKS = D / 32;
    static constexpr bool PACKED = PACKED_;
    static constexpr int STEPS = BLOCKS % 4 == 0 ? 4 : BLOCKS; // 32-value steps of a chunk
    static constexpr int CHUNKS = BLOCKS / STEPS;
    static constexpr bool CODEBOOKS = UsesCodebook<K>::VALUE || UsesCodebook<V>::VALUE;
    static constexpr int ODD_RATE = larger(UsesCodebook<K>::ODD, UsesCodebook<V>::ODD);

    // Accumulators a lane for each tile of 16 dimensions. With four heads a column is (head, high or low byte).
    static constexpr int ACC = HEADS == 4 && !V::HALF ? 2 : 4;
    static constexpr int OUT = HEADS == 4 ? 2 : 4; // of them that are left at the end
    static constexpr int TILES = D / 16;

    template <class T> static BOTH_SIDES constexpr int stage(int tile) {
        return round_up(RowCopies<T::ROW, PACKED>::offset(tile) + 16, 128);
    }
    static BOTH_SIDES constexpr int scales(int tile) { return tile * larger(larger(K::GROUPS, V::GROUPS), 1) * 4; }
    static constexpr int MOST_PARTS = 192;                         // of an item: blocks, and warps of the exact window
    static BOTH_SIDES constexpr int working(int warps, int tile) { // scales of a tile; later queries, sums and parts
        return round_up(larger(larger(warps * scales(tile), (warps + 1) / 2 * TILES * OUT * 128),
                               larger(HEADS * D * 4, MOST_PARTS * HEADS * 8)),
                        128);
    }
    static constexpr int QUERY_BYTES = D * HEADS * (K::HALF ? 4 : 2);
    static BOTH_SIDES constexpr int needed(int warps, int tile) {
        return warps * (stage<K>(tile) + stage<V>(tile)) + working(warps, tile) + QUERY_BYTES + HEADS * D * 8 +
               warps * (HEADS * 8 + 16 + 32) + HEADS * 12 + 256 + (CODEBOOKS ? 512 * 128 : 0);
    }
    // Many accumulators want more than the 128 registers that 16 warps leave each.
    static constexpr int MOST_WARPS = TILES * ACC <= 32 ? 16 : 8;
    static constexpr bool LONG_TILES = !UsesCodebook<V>::VALUE && needed(MOST_WARPS, 64) <= SHARED_LIMIT;
    static constexpr int TOKENS = LONG_TILES ? 64 : 32;
    static BOTH_SIDES constexpr int fitting(int warps) {
        return warps <= 1 || needed(warps, TOKENS) <= SHARED_LIMIT ? warps : fitting(warps - 1);
    }
    static constexpr int WARPS = fitting(MOST_WARPS), THREADS = WARPS * 32;

    static constexpr int K_STAGE = stage<K>(TOKENS), V_STAGE = stage<V>(TOKENS);
    static constexpr int AT_WORKING = WARPS * (K_STAGE + V_STAGE);
    static constexpr int AT_QUERY = AT_WORKING + working(WARPS, TOKENS);
    static constexpr int AT_QUERY_SCALE = AT_QUERY + QUERY_BYTES;    // float [HEADS]
    static constexpr int AT_WARP_SUMS = AT_QUERY_SCALE + HEADS * 4;  // float [WARPS][HEADS][2]
    static constexpr int AT_SUMS = AT_WARP_SUMS + WARPS * HEADS * 8; // float [2][HEADS][D]: coded, exact
    static constexpr int AT_MAXIMA = AT_SUMS + HEADS * D * 8;        // float [HEADS][2]
    static constexpr int AT_BARRIERS = round_up(AT_MAXIMA + HEADS * 8, 8);
    static constexpr int AT_CURSORS = AT_BARRIERS + WARPS * 16;
    static constexpr int AT_FLAG = AT_CURSORS + WARPS * 32;
    static constexpr int AT_CODEBOOKS = round_up(AT_FLAG + 4, 128);
    static constexpr int SHARED = AT_CODEBOOKS + (CODEBOOKS ? 512 * 128 : 0);
    static_assert(SHARED <= SHARED_LIMIT);

    // Floats of a part in the workspace: sums, then maxima and totals.
    static constexpr int PART = HEADS * (D + 2);
};

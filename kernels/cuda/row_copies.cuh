// How a tensor's rows come to shared memory.
#pragma once
#include "attention_params.cuh"
#include "warp.cuh"

// Where a stage has four neighbouring rows that a lane reads.
struct FourRows {
    int at[4];
};

// PACKED rows lie together, 16-byte aligned, and come in one piece a tile, ordered by the first lane. Others, such as
// llama.cpp's with all heads of a position side by side, come by the 16-byte units that a row touches, a unit a lane,
// so that a row begins as far into its slot as into a unit (bulk copies of single rows are half as fast). A slot has an
// odd number of units, and one unit more lies between eight of them, so that lanes' rows are in different banks.
template <int ROW, bool PACKED> struct RowCopies {
    static constexpr uint32_t LANES = PACKED ? 1 : 32; // that arrive at a barrier
    static constexpr int UNITS = (ROW + 14 + 15) / 16;
    static constexpr int SLOT = PACKED ? ROW : (UNITS % 2 ? UNITS : UNITS + 1) * 16;
    static BOTH_SIDES constexpr int offset(int row) { return row * SLOT + (PACKED ? 0 : row / 8 * 16); }

    uint64_t stride;
    const uint8_t *end; // of the tensor

    __device__ __forceinline__ RowCopies(const uint8_t *base, const AttentionStrides &s, const AttentionParams &p)
        : stride(s.row),
          end(base + (p.n_seq - 1) * s.seq + (p.n_head_kv - 1) * s.head + (uint64_t)(p.n_kv - 1) * s.row + ROW) {}

    // Where a stage's row begins, of a head; the same 16 rows on, but for their offset.
    __device__ __forceinline__ int place(const uint8_t *head, int row) const {
        return offset(row) + (PACKED ? 0 : (int)((uintptr_t)(head + row * stride) & 15));
    }
    // By a whole warp: rows [first, first + count) of a head to a stage; first is a multiple of 16, count at most 64.
    __device__ __forceinline__ void begin(uint8_t *to, const uint8_t *head, uint32_t first, int count, int lane,
                                          uint64_t *barrier) const {
        if constexpr (PACKED) {
            if (lane != 0) return;
            const uint8_t *source = head + (size_t)first * ROW;
            const uint32_t bytes = count * ROW, whole = bytes & ~15u;
            copy_rest(to + whole, source + whole, bytes - whole);
            barrier_expect(barrier, whole);
            if (whole) copy_bulk(to, source, whole, barrier);
        } else {
            const uint8_t *const source = head + first * stride;
            // Nothing behind the tensor is read.
            const bool ends = count > 0 && source + (count - 1) * stride + ROW == end;
            if (ends)
                copy_units<true>(to, source, count, lane);
            else
                copy_units<false>(to, source, count, lane);
            barrier_arrive_copied(barrier);
        }
    }

  private:
    template <bool ENDS>
    __device__ __forceinline__ void copy_units(uint8_t *to, const uint8_t *source, int count, int lane) const {
#pragma unroll(ENDS ? 1 : 4)
        for (int i = lane; i < count * UNITS; i += 32) {
            const int row = i / UNITS, unit = i % UNITS;
            const uint8_t *at = source + row * stride;
            const int skew = (int)((uintptr_t)at & 15);
            if (16 * unit >= skew + ROW) continue;
            const uint8_t *from = at - skew + 16 * unit;
            uint8_t *slot = to + offset(row) + 16 * unit;
            if (ENDS)
                copy_unit(slot, from, end - from < 16 ? (uint32_t)(end - from) : 16);
            else
                copy_unit(slot, from);
        }
    }
    static __device__ __forceinline__ void copy_rest(uint8_t *to, const uint8_t *from, uint32_t bytes) {
        for (uint32_t at = 0; at < bytes; at += 2) *(uint16_t *)(to + at) = *(const uint16_t *)(from + at);
        if (bytes) bulk_fence();
    }
};

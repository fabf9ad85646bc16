// How a tensor's rows come to shared memory.
#pragma once
#include "attention_params.cuh"
#include "warp.cuh"

// PACKED rows lie together, 16-byte aligned, and come in one piece a tile, ordered by the first lane. Others come a row a
// piece where rows are whole 16-byte units, else word by word; where a row begins in the middle of a word, it does so
// in shared memory too. Halves have a pitch of 16 bytes more, which keeps lanes' rows in different banks.
template <int ROW, bool HALF, bool PACKED> struct RowCopies {
    static constexpr uint32_t LANES = PACKED ? 1 : 32; // that arrive at a barrier
    AttentionStrides stride;
    int unit; // bytes that a row's copies take at a time; 0: whole rows
    int step;

    __device__ __forceinline__ RowCopies(const uint8_t *base, const AttentionStrides &s) : stride(s) {
        const uint32_t odd = (uint32_t)(s.row | s.head | s.seq | (uint64_t)(uintptr_t)base);
        unit = (odd & 15) == 0 && ROW % 16 == 0 ? 0
               : (odd & 7) == 0 && ROW % 8 == 0 ? 8
               : (odd & 3) == 0 && ROW % 4 == 0 ? 4
                                                : 2;
        step = HALF && ROW % 16 == 0 ? ROW + 16
               : unit != 2           ? ROW + (unit == 4 ? 4 : unit)
                                     : ROW + 2 + (int)((s.row - ROW - 2) & 3);
    }
    // Bytes from one row to the next in shared memory.
    __device__ __forceinline__ int pitch() const { return PACKED ? ROW : step; }
    // Bytes between a stage's begin and its first row.
    __device__ __forceinline__ int skew(const uint8_t *head) const { return PACKED ? 0 : (int)((uintptr_t)head & 2); }
    // By a whole warp: rows [first, first + count) of a head to a stage.
    __device__ __forceinline__ void begin(uint8_t *to, const uint8_t *head, uint32_t first, int count, int lane,
                                          uint64_t *barrier) const {
        if constexpr (PACKED) {
            if (lane != 0) return;
            const uint8_t *source = head + (size_t)first * ROW;
            const uint32_t bytes = count * ROW, whole = bytes & ~15u;
            if (whole < bytes) {
                for (uint32_t at = whole; at < bytes; at += 2)
                    *(uint16_t *)(to + at) = *(const uint16_t *)(source + at);
                bulk_fence();
            }
            barrier_expect(barrier, whole);
            if (whole) copy_bulk(to, source, whole, barrier);
        } else {
            const uint8_t *source = head + first * stride.row;
            if (unit == 0) {
                const int rows = lane < count ? (count - lane + 31) / 32 : 0;
                barrier_expect(barrier, rows * ROW);
                for (int row = lane; row < count; row += 32)
                    copy_bulk(to + row * step, source + row * stride.row, ROW, barrier);
            } else {
                if (unit == 8) {
                    if constexpr (ROW % 8 == 0) units<8>(to, source, count, lane);
                } else if (unit == 4) {
                    if constexpr (ROW % 4 == 0) units<4>(to, source, count, lane);
                } else {
                    words(to, source, count, lane);
                }
                barrier_arrive_copied(barrier);
            }
        }
    }

  private:
    // Neighbouring lanes copy neighbouring units.
    template <int UNIT>
    __device__ __forceinline__ void units(uint8_t *to, const uint8_t *source, int count, int lane) const {
        constexpr int UNITS = ROW / UNIT;
        for (int i = lane; i < count * UNITS; i += 32) {
            const int row = i / UNITS, at = i % UNITS * UNIT;
            copy_unit<UNIT>(to + row * step + at, source + row * stride.row + at);
        }
    }
    __device__ __forceinline__ void words(uint8_t *to, const uint8_t *source, int count, int lane) const {
        constexpr int WORDS = (ROW + 5) / 4;
        uint8_t *first = to + ((uintptr_t)source & 2);
        for (int i = lane; i < count * WORDS; i += 32) {
            const int row = i / WORDS, word = i % WORDS;
            const uint8_t *at = source + row * stride.row;
            const int before = (int)((uintptr_t)at & 2), there = ROW + before - 4 * word;
            if (there > 0)
                copy_word(first + row * step - before + 4 * word, at - before + 4 * word, there < 4 ? there : 4);
        }
    }
};

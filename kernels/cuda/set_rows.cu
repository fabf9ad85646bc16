// Rows of float values to rows of a cache type, at indices. One format and head size a module: ELIZA_K_TYPE and
// ELIZA_HEAD_DIM. A block of 128 threads takes a tile (trellis types) or 128 values (others) of a row.
#include "attention_types.cuh"
#include "encode_levels.cuh"
#include "encode_trellis.cuh"

#ifndef ELIZA_K_TYPE
#define ELIZA_K_TYPE turbo4_tcq
#endif
#ifndef ELIZA_HEAD_DIM
#define ELIZA_HEAD_DIM 128
#endif

struct SetRowsParams {
    uint32_t n_rows;
    uint32_t n_heads;      // heads of a row, one after the other in both
    uint32_t value_stride; // bytes from one row of values to the next
    uint32_t byte_stride;  // bytes from one row of the cache to the next
    uint32_t flags;
};
constexpr uint32_t VALUES_ARE_HALVES = 1, HAS_IDS = 2;

DEVICE_INLINE float value_at(const uint8_t *row, uint32_t i, uint32_t flags) {
    return flags & VALUES_ARE_HALVES ? half_bits(((const uint16_t *)row)[i]) : ((const float *)row)[i];
}

template <class T> struct RowEncoder;

template <int D, int WIDTH, class Rates> struct RowEncoder<Trellis<D, WIDTH, Rates>> {
    using T = Trellis<D, WIDTH, Rates>;
    static constexpr int VALUES = WIDTH;
    template <int TILE>
    static __device__ __forceinline__ void tile(TrellisMemory &m, int wanted, const int8_t *books, uint8_t *head) {
        if (wanted == TILE) {
            encode_trellis<Rates::rate(TILE), Rates::PREFIXED>(m, WIDTH, books, head + T::byte_of(TILE));
        } else if constexpr (TILE + 1 < T::TILES) {
            tile<TILE + 1>(m, wanted, books, head);
        }
    }
    static __device__ __forceinline__ void encode(uint8_t *memory, const uint8_t *row, uint32_t first, uint32_t count,
                                                  uint32_t flags, const int8_t *books, uint8_t *to) {
        TrellisMemory &m = *(TrellisMemory *)memory;
        m.z[threadIdx.x] = threadIdx.x < WIDTH ? value_at(row, first + threadIdx.x, flags) : 0.0f;
        __syncthreads();
        tile<0>(m, first % D / WIDTH, books, to + first / D * T::ROW);
    }
};

template <class E> struct LevelsEncoder {
    static constexpr int VALUES = 128;
    static __device__ __forceinline__ void encode(uint8_t *memory, const uint8_t *row, uint32_t first, uint32_t count,
                                                  uint32_t flags, const int8_t *, uint8_t *to) {
        float *z = (float *)memory;
        z[threadIdx.x] = first + threadIdx.x < count ? value_at(row, first + threadIdx.x, flags) : 0.0f;
        __syncthreads();
        encode_levels<E>(z, (int)(count - first), to + first / 32 * E::BYTES);
    }
};
template <int D> struct RowEncoder<Turbo4<D>> : LevelsEncoder<EncodeTurbo4> {};
struct Tbq3Rows {};
template <int D> struct Turbo3Rows {};
template <> struct RowEncoder<Tbq3Rows> : LevelsEncoder<EncodeTbq3> {};
template <int D> struct RowEncoder<Turbo3Rows<D>> : LevelsEncoder<EncodeTurbo3<D>> {};
namespace cache_type {
template <int D> using tbq3 = Tbq3Rows;
template <int D> using turbo3 = Turbo3Rows<D>;
} // namespace cache_type

using Encoder = RowEncoder<cache_type::ELIZA_K_TYPE<ELIZA_HEAD_DIM>>;
extern "C" __device__ const uint32_t eliza_set_rows_values = Encoder::VALUES;

// Grid: x the row, y the tile or the 128 values of it. `ids`: int64 row of the cache for each row of values.
extern "C" __global__ void __launch_bounds__(128)
    eliza_set_rows(const uint8_t *values, const int64_t *ids, uint8_t *bytes, const int8_t *codebooks,
                   SetRowsParams params) {
    __shared__ __align__(16) uint8_t memory[sizeof(TrellisMemory)];
    const uint32_t row = blockIdx.x, first = blockIdx.y * Encoder::VALUES;
    const int64_t id = params.flags & HAS_IDS ? ids[row] : (int64_t)row;
    Encoder::encode(memory, values + (size_t)row * params.value_stride, first, params.n_heads * ELIZA_HEAD_DIM,
                    params.flags, codebooks, bytes + (size_t)id * params.byte_stride);
}

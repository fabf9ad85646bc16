// Trellis-coded tiles, 1 to 6 bits a symbol and 32, 64 or 128 values a tile, mixed freely within a row. A tile is an
// fp16 scale and a stream in which the nine bits at bit k * t name the state after sample t, an index of a codebook.
#include "score.cuh"

struct Trellis {
    static constexpr uint32_t QUERY_PER_VALUE = 1;
    static constexpr bool TURNS_QUERY = false;
    struct Source {
        const uint32_t *codebooks; // int8 [6][512], by bits a symbol
        // For each unit of sixteen values of a row: x the byte of its tile, y its place in the tile, z bits a symbol,
        // with 256 added where the stream goes on at its beginning (the last unit of a tail-biting tile), w the step.
        // One more at the end: x the bytes of a row.
        const uint4 *units;
    };
    struct Shared {
        uint32_t codebooks[6 * 128]; // with 128 added to each entry
    };

    static __device__ __forceinline__ void stage(const Source &source, Shared &shared) {
        for (uint32_t i = threadIdx.x; i < 6 * 128; i += blockDim.x)
            shared.codebooks[i] = __ldg(source.codebooks + i) ^ 0x80808080u;
    }

    static __device__ __forceinline__ uint32_t offset(const Source &source, uint32_t value) {
        return __ldg(&source.units[value / 16].x);
    }

    static __device__ __forceinline__ uint32_t place(uint32_t unit, uint32_t half) { return unit * 16 + half * 8; }

    template <uint32_t K>
    static __device__ __forceinline__ void samples(const Shared &shared, const uint32_t *row, uint32_t from,
                                                   uint32_t next, float *v) {
        const uint8_t *codebook = (const uint8_t *)(shared.codebooks + (K - 1) * 128);
        uint32_t words[K + 1];
#pragma unroll
        for (uint32_t i = 0; i < K; i++) words[i] = load16(row, from + 2 * i);
        words[K] = load16(row, next);
#pragma unroll
        for (uint32_t i = 0; i < 16; i++) {
            const uint32_t word = i * K / 16, shift = i * K % 16;
            const uint32_t state = ((words[word] | (words[word + 1] << 16)) >> shift) & 511;
            // 2^23 + entry + 128 as a float, without a conversion.
            v[i] = __uint_as_float(0x4b000000u | codebook[state]) - 8388736.0f;
        }
    }

    static __device__ __forceinline__ float decode(const Source &source, const Shared &shared, uint32_t,
                                                   const uint32_t *row, uint32_t first_unit, uint32_t offset,
                                                   uint32_t unit, float *v) {
        const uint4 u = __ldg(source.units + first_unit + unit);
        const uint32_t k = u.z & 255, tile = u.x - offset, stream = tile + 2;
        const uint32_t from = stream + 2 * k * u.y, next = u.z >= 256 ? stream : from + 2 * k;
        switch (k) {
        case 1:
            samples<1>(shared, row, from, next, v);
            break;
        case 2:
            samples<2>(shared, row, from, next, v);
            break;
        case 3:
            samples<3>(shared, row, from, next, v);
            break;
        case 4:
            samples<4>(shared, row, from, next, v);
            break;
        case 5:
            samples<5>(shared, row, from, next, v);
            break;
        default:
            samples<6>(shared, row, from, next, v);
            break;
        }
        return half_at(row, tile) * __uint_as_float(u.w);
    }
};

#define ELIZA_TRELLIS_KERNEL(NAME, FORMAT, R, H)                                                                       \
    extern "C" __global__ void __launch_bounds__(Team<R>::THREADS)                                                     \
        NAME##_r##R##_h##H(const uint8_t *rows, const float *queries, float *scores, const uint32_t *codebooks,        \
                           const uint4 *units, ScoreParams params) {                                                   \
        score<FORMAT, R, H>(rows, queries, scores, {codebooks, units}, params);                                        \
    }
ELIZA_FOR_ROWS_AND_HEADS(ELIZA_TRELLIS_KERNEL, eliza_trellis_score, Trellis)

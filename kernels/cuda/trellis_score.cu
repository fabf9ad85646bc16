// Trellis-coded tiles, 1 to 6 bits a symbol and 32, 64 or 128 values a tile, mixed freely within a row. A tile is an
// fp16 scale and a stream in which the nine bits at bit k * t name the state after sample t, an index of a codebook.
#include "score.cuh"

struct Trellis {
    static constexpr uint32_t QUERY_PER_VALUE = 1;
    struct Source {
        const int8_t *codebooks; // [6][512], by bits a symbol
        // For each unit of sixteen values of a row: x the byte of its tile, y its place in the tile, z bits a symbol,
        // with 256 added where the stream goes on at its beginning (the last unit of a tail-biting tile), w the step.
        const uint4 *units;
    };
    struct Shared {};

    static __device__ __forceinline__ void stage(const Source &, Shared &) {}

    static __device__ __forceinline__ uint32_t place(uint32_t unit, uint32_t half) { return unit * 16 + half * 8; }

    template <uint32_t K>
    static __device__ __forceinline__ void samples(const int8_t *__restrict__ codebooks,
                                                   const uint8_t *__restrict__ rows, uint32_t from, uint32_t next,
                                                   float *v) {
        uint32_t words[K + 1];
#pragma unroll
        for (uint32_t i = 0; i < K; i++) words[i] = load16(rows, from + 2 * i);
        words[K] = load16(rows, next);
#pragma unroll
        for (uint32_t i = 0; i < 16; i++) {
            const uint32_t word = i * K / 16, shift = i * K % 16;
            const uint32_t state = ((words[word] | (words[word + 1] << 16)) >> shift) & 511;
            v[i] = (float)__ldg(codebooks + (K - 1) * 512 + state);
        }
    }

    static __device__ __forceinline__ float decode(const Source &source, const Shared &, uint32_t,
                                                   const uint8_t *__restrict__ rows, uint32_t at, uint32_t unit,
                                                   float *v) {
        const uint4 u = __ldg(source.units + unit);
        const uint32_t k = u.z & 255, stream = at + u.x + 2;
        const uint32_t from = stream + 2 * k * u.y, next = u.z >= 256 ? stream : from + 2 * k;
        switch (k) {
        case 1: samples<1>(source.codebooks, rows, from, next, v); break;
        case 2: samples<2>(source.codebooks, rows, from, next, v); break;
        case 3: samples<3>(source.codebooks, rows, from, next, v); break;
        case 4: samples<4>(source.codebooks, rows, from, next, v); break;
        case 5: samples<5>(source.codebooks, rows, from, next, v); break;
        default: samples<6>(source.codebooks, rows, from, next, v); break;
        }
        return half_at(rows, at + u.x) * __uint_as_float(u.w);
    }
};

#define ELIZA_TRELLIS_KERNEL(NAME, FORMAT, R, H)                                                              \
    extern "C" __global__ void __launch_bounds__(Team<R>::THREADS)                                            \
        NAME##_r##R##_h##H(const uint8_t *rows, const float *queries, float *scores, const int8_t *codebooks, \
                           const uint4 *units, ScoreParams params) {                                          \
        score<FORMAT, R, H>(rows, queries, scores, {codebooks, units}, params);                               \
    }
ELIZA_FOR_ROWS_AND_HEADS(ELIZA_TRELLIS_KERNEL, eliza_trellis_score, Trellis)

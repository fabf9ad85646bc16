// What the attention kernels ask of a warp: byte permutes, matrix instructions, copies that a barrier in shared memory
// waits for. PTX with nvcc; the emulation has functions of the same names.
#pragma once
#include <cuda_fp16.h>
#include <stdint.h>

#define DEVICE static __device__ __forceinline__
#define BOTH_SIDES __host__ __device__

DEVICE uint32_t lds16(const uint8_t *at) { return *(const uint16_t *)at; }
DEVICE uint32_t lds32(const uint8_t *at) { return *(const uint32_t *)at; }
DEVICE float half_bits(uint32_t bits) { return __half2float(__ushort_as_half((unsigned short)bits)); }

#ifdef __CUDACC__
#define DYNAMIC_SHARED(NAME) extern __shared__ __align__(128) uint8_t NAME[]

DEVICE uint32_t permute(uint32_t a, uint32_t b, uint32_t selector) {
    uint32_t r;
    asm("prmt.b32 %0,%1,%2,%3;" : "=r"(r) : "r"(a), "r"(b), "r"(selector));
    return r;
}
DEVICE float exp2_fast(float x) {
    float r;
    asm("ex2.approx.ftz.f32 %0,%1;" : "=f"(r) : "f"(x));
    return r;
}
DEVICE uint32_t pack_halves(float low, float high) {
    uint32_t r;
    asm("cvt.rn.f16x2.f32 %0,%1,%2;" : "=r"(r) : "f"(high), "f"(low));
    return r;
}
// Of two halves each.
DEVICE uint32_t halves_subtract(uint32_t a, uint32_t b) {
    uint32_t r;
    asm("sub.f16x2 %0,%1,%2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
}
DEVICE uint32_t halves_multiply(uint32_t a, uint32_t b) {
    uint32_t r;
    asm("mul.f16x2 %0,%1,%2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
}
DEVICE uint32_t halves_fma(uint32_t a, uint32_t b, uint32_t c) {
    uint32_t r;
    asm("fma.rn.f16x2 %0,%1,%2,%3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    return r;
}
DEVICE float divide_fast(float a, float b) { return __fdividef(a, b); }
// A value that the compiler must not make anew at each use.
DEVICE uint32_t opaque(uint32_t x) {
    asm volatile("" : "+r"(x));
    return x;
}
// d = a (16 x 32 int8, by rows) * b (32 x 8 int8, by columns) + c
DEVICE void mma_int8(int *d, const uint32_t *a, uint32_t b0, uint32_t b1, const int *c) {
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%10,%11,%12,%13};"
        : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
}
// c += a (16 x 16 halves, by rows) * b (16 x 8 halves, by columns)
DEVICE void mma_half(float *c, const uint32_t *a, uint32_t b0, uint32_t b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
DEVICE uint32_t shared_address(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

// A barrier of one warp: so many lanes arrive once a phase, with the bytes that they have ordered.
DEVICE void barrier_init(uint64_t *barrier, uint32_t lanes) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0],%1;" ::"r"(shared_address(barrier)), "r"(lanes) : "memory");
}
DEVICE void barrier_inits_done() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
DEVICE void barrier_wait(uint64_t *barrier, uint32_t parity) {
    asm volatile(
        "{\n.reg .pred p;\nW%=: mbarrier.try_wait.parity.shared::cta.b64 p,[%0],%1;\n@p bra D%=;\nbra W%=;\nD%=:\n}" ::
            "r"(shared_address(barrier)),
        "r"(parity)
        : "memory");
}
// Arrives when the copies that this lane has begun with copy_unit are there.
DEVICE void barrier_arrive_copied(uint64_t *barrier) {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(shared_address(barrier)) : "memory");
}
// Arrives, and says how many bytes of bulk copies the phase waits for.
DEVICE void barrier_expect(uint64_t *barrier, uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _,[%0],%1;" ::"r"(shared_address(barrier)), "r"(bytes)
                 : "memory");
}
// Both addresses and the size are multiples of 16.
DEVICE void copy_bulk(uint8_t *to, const uint8_t *from, uint32_t bytes, uint64_t *barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0],[%1],%2,[%3];" ::"r"(
                     shared_address(to)),
                 "l"(from), "r"(bytes), "r"(shared_address(barrier))
                 : "memory");
}
// Sixteen bytes, aligned.
DEVICE void copy_unit(uint8_t *to, const uint8_t *from) {
    asm volatile("cp.async.cg.shared.global [%0],[%1],16;" ::"r"(shared_address(to)), "l"(from) : "memory");
}
// The same, of which the last `16 - there` are not read.
DEVICE void copy_unit(uint8_t *to, const uint8_t *from, uint32_t there) {
    asm volatile("cp.async.cg.shared.global [%0],[%1],16,%2;" ::"r"(shared_address(to)), "l"(from), "r"(there)
                 : "memory");
}
// Ordinary accesses of shared memory before, bulk copies after.
DEVICE void bulk_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
DEVICE void keep_loads_here() { asm volatile("" ::: "memory"); }
#else
#include <warp_emulation.h>
#endif

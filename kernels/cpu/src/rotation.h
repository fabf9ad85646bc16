// The rotations of docs/formats.md on tiles of whole registers; element i is lane i % 16 of register i / 16.
#ifndef ELIZA_KV_ROTATION_H
#define ELIZA_KV_ROTATION_H

enum { MAX_REGISTERS = 128 / LANES };

KV_BODY void load_tile(vf *z, const float *x, int width) {
    KV_UNROLL
    for (int r = 0; r < width / LANES; ++r) z[r] = vf_load(x + LANES * r);
}

KV_BODY void store_tile(float *x, const vf *z, int width) {
    KV_UNROLL
    for (int r = 0; r < width / LANES; ++r) vf_store(x + LANES * r, z[r]);
}

KV_BODY void scale_tile(vf *z, int width, float factor) {
    KV_UNROLL
    for (int r = 0; r < width / LANES; ++r) z[r] = vf_mul(z[r], vf_set1(factor));
}

KV_BODY void sign_tile(vf *z, int width, const uint32_t *kept) {
    KV_UNROLL
    for (int r = 0; r < width / LANES; ++r) z[r] = vf_negate(z[r], ~(kept[r / 2] >> (LANES * (r % 2))) & 0xffffu);
}

// Not scaled.
KV_BODY void hadamard(vf *z, int width) {
    const int registers = width / LANES;
    KV_UNROLL
    for (int r = 0; r < registers; ++r) z[r] = vf_hadamard16(z[r]);
    KV_UNROLL
    for (int h = 1; h < registers; h *= 2) {
        KV_UNROLL
        for (int base = 0; base < registers; base += 2 * h) {
            KV_UNROLL
            for (int r = base; r < base + h; ++r) {
                const vf a = z[r];
                const vf b = z[r + h];
                z[r] = vf_add(a, b);
                z[r + h] = vf_sub(a, b);
            }
        }
    }
}

KV_BODY float root_of(int width) {
    return width == 32 ? 0.1767766952966369f : width == 64 ? 0.125f : 0.08838834764831845f;
}

KV_BODY void rotate_tile(vf *z, int width) {
    sign_tile(z, width, width == 32 ? SIGNS_32 : SIGNS_1);
    hadamard(z, width);
    scale_tile(z, width, root_of(width));
    if (width > 32) sign_tile(z, width, SIGNS_2);
}

KV_BODY void unrotate_tile(vf *z, int width) {
    if (width > 32) sign_tile(z, width, SIGNS_2);
    hadamard(z, width);
    scale_tile(z, width, root_of(width));
    sign_tile(z, width, width == 32 ? SIGNS_32 : SIGNS_1);
}

KV_BODY void rotate_row(const float *query, float *prepared, int64_t n, int width) {
    for (int64_t at = 0; at < n; at += width) {
        vf z[MAX_REGISTERS];
        load_tile(z, query + at, width);
        rotate_tile(z, width);
        store_tile(prepared + at, z, width);
    }
}

#endif

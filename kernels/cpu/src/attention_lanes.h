// The vector operations of attention, beside those of lanes.h. An attention_lanes_<isa>.h defines:
//   vf_max(a, b)          a NaN in b stays
//   vf_div
//   vf_of(a)              integers to float32
//   vf_power2(a)          2^a for integers from −126 to 127; 0 for −127
//   vi_signed(a)          each byte as a signed lane
//   vf_load_bfloat(bytes) 16 bf16 values
//   vf_transpose16(rows)  16 vectors as a matrix, turned over
//   MATRIX_COLUMNS        vectors of a row that a product keeps in registers, for MATRIX_ROWS rows
#ifndef ELIZA_ATTENTION_LANES_H
#define ELIZA_ATTENTION_LANES_H

// Cephes' coefficients of 2^f on −0.5 to 0.5 give exp to 2e-7 of itself. Below −87.7 the result is 0.
KV_INLINE vf vf_exp(vf x) {
    x = vf_max(vf_set1(-88.02f), x);
    const vi n = vf_round(vf_mul(x, vf_set1(1.44269504f)));
    const vf whole = vf_of(n);
    vf r = vf_fma(whole, vf_set1(-0.693359375f), x);
    r = vf_fma(whole, vf_set1(2.12194440e-4f), r);
    vf p = vf_set1(1.9875691500e-4f);
    p = vf_fma(p, r, vf_set1(1.3981999507e-3f));
    p = vf_fma(p, r, vf_set1(8.3334519073e-3f));
    p = vf_fma(p, r, vf_set1(4.1665795894e-2f));
    p = vf_fma(p, r, vf_set1(1.6666665459e-1f));
    p = vf_fma(p, r, vf_set1(5.0000001201e-1f));
    p = vf_fma(p, vf_mul(r, r), vf_add(r, vf_set1(1.0f)));
    return vf_mul(p, vf_power2(n));
}

// 1 − 2 / (exp(2x) + 1), within 1.2e-7 of tanh.
KV_INLINE vf vf_tanh(vf x) {
    const vf twice = vf_max(vf_set1(-40.0f), vf_add(x, x));
    const vf least = vf_sub(vf_zero(), vf_max(vf_set1(-40.0f), vf_sub(vf_zero(), twice)));
    return vf_sub(vf_set1(1.0f), vf_div(vf_set1(2.0f), vf_add(vf_exp(least), vf_set1(1.0f))));
}

#ifndef VF_LARGEST // a quicker one
KV_INLINE float vf_largest(vf a) {
    float lane[LANES];
    vf_store(lane, a);
    float largest = lane[0];
    for (int i = 1; i < LANES; ++i) largest = lane[i] > largest ? lane[i] : largest;
    return largest;
}
#endif

#endif

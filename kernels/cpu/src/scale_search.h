// Scalar codes, and the search for the scale that explains a tile best.
#ifndef ELIZA_KV_SCALE_SEARCH_H
#define ELIZA_KV_SCALE_SEARCH_H

KV_BODY vsearch search_of(const scalar_table *table) {
    return table->codes == 16 ? vsearch16(table->thresholds) : vsearch8(table->thresholds);
}

KV_BODY vi codes_of(const scalar_table *table, vsearch search, vf u) {
    return table->codes == 16 ? vi_codes16(search, u) : vi_codes8(search, u);
}

KV_BODY vf centroids_of(const scalar_table *table, vi codes) {
    return table->codes == 16 ? vf_lookup16(table->centroids, codes) : vf_lookup8(table->centroids, codes);
}

KV_BODY void codes_at(const scalar_table *table, const vf *unit, int width, float factor, vi *codes) {
    const vsearch search = search_of(table);
    for (int r = 0; r < width / LANES; ++r) codes[r] = codes_of(table, search, vf_mul(unit[r], vf_set1(factor)));
}

// Codes at the factor whose least-squares fit explains most, and that fit, Σ u·c / Σ c·c.
KV_BODY float search_scale(const scalar_table *table, const vf *unit, int width, vi *codes) {
    const vsearch search = search_of(table);
    float best = -1.0f;
    float fit = 0.0f;
    float best_factor = 0.0f;
    for (int f = 0; f < SEARCH_FACTORS; ++f) {
        const vf factor = vf_set1(table->factors[f]);
        vf products = vf_zero();
        vf squares = vf_zero();
        for (int r = 0; r < width / LANES; ++r) {
            const vf c = centroids_of(table, codes_of(table, search, vf_mul(unit[r], factor)));
            products = vf_add(products, vf_mul(unit[r], c));
            squares = vf_add(squares, vf_mul(c, c));
        }
        const float num = vf_fold(products);
        const float den = vf_fold(squares);
        const float explained = num * num / den;
        if (explained > best) {
            best = explained;
            fit = num / den;
            best_factor = table->factors[f];
        }
    }
    codes_at(table, unit, width, best_factor, codes);
    return fit;
}

#endif

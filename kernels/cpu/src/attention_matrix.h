// Small dense products in float32.
#ifndef ELIZA_ATTENTION_MATRIX_H
#define ELIZA_ATTENTION_MATRIX_H

// c[rows][16·columns] += or = a[rows][depth] · b[depth][16·columns], kept in registers over the whole depth.
KV_BODY void multiply_block(int rows, int columns, const float *a, int64_t a_row, const float *b, int64_t b_row,
                            float *c, int64_t c_row, int64_t depth, bool add) {
    vf sum[MATRIX_ROWS][MATRIX_COLUMNS];
    KV_UNROLL
    for (int r = 0; r < rows; ++r) {
        KV_UNROLL
        for (int v = 0; v < columns; ++v) sum[r][v] = add ? vf_load(c + r * c_row + LANES * v) : vf_zero();
    }
    for (int64_t d = 0; d < depth; ++d) {
        vf from[MATRIX_COLUMNS];
        KV_UNROLL
        for (int v = 0; v < columns; ++v) from[v] = vf_load(b + d * b_row + LANES * v);
        KV_UNROLL
        for (int r = 0; r < rows; ++r) {
            const vf factor = vf_set1(a[r * a_row + d]);
            KV_UNROLL
            for (int v = 0; v < columns; ++v) sum[r][v] = vf_fma(factor, from[v], sum[r][v]);
        }
    }
    KV_UNROLL
    for (int r = 0; r < rows; ++r) {
        KV_UNROLL
        for (int v = 0; v < columns; ++v) vf_store(c + r * c_row + LANES * v, sum[r][v]);
    }
}

#define MULTIPLY_ROWS(rows)                                                                                            \
    case rows:                                                                                                         \
        multiply_block(rows <= MATRIX_ROWS ? rows : 1, columns, a, a_row, b, b_row, c, c_row, depth, add);             \
        break

KV_BODY void multiply_columns(int columns, int64_t rows, const float *a, int64_t a_row, const float *b, int64_t b_row,
                              float *c, int64_t c_row, int64_t depth, bool add) {
    for (int64_t left = rows; left > 0; left -= MATRIX_ROWS, a += MATRIX_ROWS * a_row, c += MATRIX_ROWS * c_row) {
        switch (left < MATRIX_ROWS ? left : MATRIX_ROWS) {
            MULTIPLY_ROWS(1);
            MULTIPLY_ROWS(2);
            MULTIPLY_ROWS(3);
            MULTIPLY_ROWS(4);
            MULTIPLY_ROWS(5);
            MULTIPLY_ROWS(6);
        }
    }
}

// c += or = a · b; n is a multiple of 16.
static void multiply(int64_t rows, int64_t n, const float *a, int64_t a_row, const float *b, int64_t b_row, float *c,
                     int64_t c_row, int64_t depth, bool add) {
    int64_t at = 0;
    for (; at + LANES * MATRIX_COLUMNS <= n; at += LANES * MATRIX_COLUMNS) {
        multiply_columns(MATRIX_COLUMNS, rows, a, a_row, b + at, b_row, c + at, c_row, depth, add);
    }
    for (; at < n; at += LANES) multiply_columns(1, rows, a, a_row, b + at, b_row, c + at, c_row, depth, add);
}

// out[i] = query · rows[i] for 16 rows.
static void score_16(const float *query, const float *rows, int64_t dim, float *out) {
    vf sums[16];
    for (int first = 0; first < 16; first += SCORE_ROWS) {
        vf sum[SCORE_ROWS];
        KV_UNROLL
        for (int r = 0; r < SCORE_ROWS; ++r) sum[r] = vf_zero();
        for (int64_t d = 0; d < dim; d += LANES) {
            const vf q = vf_load(query + d);
            KV_UNROLL
            for (int r = 0; r < SCORE_ROWS; ++r) sum[r] = vf_fma(q, vf_load(rows + (first + r) * dim + d), sum[r]);
        }
        KV_UNROLL
        for (int r = 0; r < SCORE_ROWS; ++r) sums[first + r] = sum[r];
    }
    vf_transpose16(sums);
    KV_UNROLL
    for (int half = 8; half >= 1; half /= 2) {
        KV_UNROLL
        for (int i = 0; i < half; ++i) sums[i] = vf_add(sums[i], sums[i + half]);
    }
    vf_store(out, sums[0]);
}

// columns[d][TILE_ROWS] from 16 rows, dim a multiple of 16.
static void turn_rows(const float *rows, int64_t dim, float *columns) {
    for (int64_t d = 0; d < dim; d += LANES) {
        vf block[16];
        KV_UNROLL
        for (int r = 0; r < 16; ++r) block[r] = vf_load(rows + r * dim + d);
        vf_transpose16(block);
        KV_UNROLL
        for (int r = 0; r < 16; ++r) vf_store(columns + (d + r) * TILE_ROWS, block[r]);
    }
}

#endif

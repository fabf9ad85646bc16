// Rows of any type as float32, and the bases that they lie in.
#ifndef ELIZA_ATTENTION_ROWS_H
#define ELIZA_ATTENTION_ROWS_H

static const float IQ4_NL_VALUES[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

// A block of 32 four-bit codes in 16 bytes, low nibbles first: code · scale + least.
KV_INLINE void store_nibbles(const uint8_t *codes, uint32_t fifth_bits, float scale, float least, float *out) {
    const vi pairs = vi_bytes(vb_load16(codes));
    const vi low = vi_mask_bit(vi_and(pairs, 15), fifth_bits & 0xffff, 4);
    const vi high = vi_mask_bit(vi_shr(pairs, 4), fifth_bits >> 16, 4);
    vf_store(out, vf_fma(vf_of(low), vf_set1(scale), vf_set1(least)));
    vf_store(out + LANES, vf_fma(vf_of(high), vf_set1(scale), vf_set1(least)));
}

static void stock_to_floats(int32_t type, const uint8_t *bytes, float *out, int64_t n) {
    float scale;
    switch (type) {
    case TYPE_F32:
        memcpy(out, bytes, (size_t)n * sizeof(float));
        break;
    case TYPE_F16:
        for (int64_t i = 0; i < n; i += LANES) vf_store(out + i, vf_load_half(bytes + 2 * i));
        break;
    case TYPE_BF16:
        for (int64_t i = 0; i < n; i += LANES) vf_store(out + i, vf_load_bfloat(bytes + 2 * i));
        break;
    case TYPE_Q4_0:
        for (; n > 0; n -= 32, out += 32, bytes += 18) {
            scale = half_to_float(read16(bytes));
            store_nibbles(bytes + 2, 0, scale, -8.0f * scale, out);
        }
        break;
    case TYPE_Q4_1:
        for (; n > 0; n -= 32, out += 32, bytes += 20) {
            store_nibbles(bytes + 4, 0, half_to_float(read16(bytes)), half_to_float(read16(bytes + 2)), out);
        }
        break;
    case TYPE_Q5_0:
        for (; n > 0; n -= 32, out += 32, bytes += 22) {
            scale = half_to_float(read16(bytes));
            store_nibbles(bytes + 6, read32(bytes + 2), scale, -16.0f * scale, out);
        }
        break;
    case TYPE_Q5_1:
        for (; n > 0; n -= 32, out += 32, bytes += 24) {
            store_nibbles(bytes + 8, read32(bytes + 4), half_to_float(read16(bytes)), half_to_float(read16(bytes + 2)),
                          out);
        }
        break;
    case TYPE_Q8_0:
        for (; n > 0; n -= 32, out += 32, bytes += 34) {
            const vf factor = vf_set1(half_to_float(read16(bytes)));
            vf_store(out, vf_mul(vf_of(vi_signed(vb_load16(bytes + 2))), factor));
            vf_store(out + LANES, vf_mul(vf_of(vi_signed(vb_load16(bytes + 18))), factor));
        }
        break;
    default: // IQ4_NL
        for (; n > 0; n -= 32, out += 32, bytes += 18) {
            const vf factor = vf_set1(half_to_float(read16(bytes)));
            const vi pairs = vi_bytes(vb_load16(bytes + 2));
            vf_store(out, vf_mul(vf_lookup16(IQ4_NL_VALUES, vi_and(pairs, 15)), factor));
            vf_store(out + LANES, vf_mul(vf_lookup16(IQ4_NL_VALUES, vi_shr(pairs, 4)), factor));
        }
    }
}

// A type's rows, and the head to read.
typedef struct row_reader {
    const uint8_t *data; // of the sequence and head
    size_t row;
    size_t bytes; // of a head's row
    int32_t type;
    eliza_kv_decode_fn decode; // NULL for types that are not ours
} row_reader;

static row_reader reader_of(const eliza_attention_rows *rows, int64_t n, int64_t sequence, int64_t head) {
    const eliza_kv_format *format = eliza_kv_format_by_type(rows->type);
    row_reader reader = {.row = rows->row, .bytes = eliza_attention_row_bytes(rows->type, n), .type = rows->type};
    reader.data = (const uint8_t *)rows->data + (size_t)sequence * rows->sequence + (size_t)head * rows->head;
    if (format != NULL) reader.decode = format->decode_rotated;
    return reader;
}

KV_INLINE void read_row(const row_reader *reader, int64_t row, float *out, int64_t n) {
    const uint8_t *bytes = reader->data + (size_t)row * reader->row;
    if (reader->decode != NULL) {
        reader->decode(bytes, out, n);
    } else {
        stock_to_floats(reader->type, bytes, out, n);
    }
}

// A query in the basis of K's type, times the scale.
static void prepare_query(int32_t k_type, const float *query, int64_t head_dim, float scale, float *out) {
    const eliza_kv_format *format = eliza_kv_format_by_type(k_type);
    int64_t n = head_dim;
    if (format == NULL) {
        memcpy(out, query, (size_t)n * sizeof(float));
    } else if (eliza_attention_basis(k_type) != BASIS_SKETCH) {
        format->prepare_query(query, out, n);
    } else {
        // fp16 values, twice as many, fill the upper half and are widened from there
        n = 2 * head_dim;
        uint8_t *halves = (uint8_t *)(out + head_dim);
        format->prepare_query(query, halves, head_dim);
        for (int64_t i = 0; i < n; i += LANES) vf_store(out + i, vf_load_half(halves + 2 * i));
    }
    for (int64_t i = 0; i < n; i += LANES) vf_store(out + i, vf_mul(vf_load(out + i), vf_set1(scale)));
}

KV_BODY void turn_back_row(float *row, int64_t n, int width, bool polar) {
    for (int64_t at = 0; at < n; at += width) {
        vf z[MAX_REGISTERS];
        load_tile(z, row + at, width);
        if (polar) {
            hadamard(z, width);
        } else {
            unrotate_tile(z, width);
        }
        store_tile(row + at, z, width);
    }
}

// Sums of decoded rows back to the original basis.
static void turn_back(enum attention_basis basis, float *row, int64_t n) {
    switch (basis) {
    case BASIS_32:
        turn_back_row(row, n, 32, false);
        break;
    case BASIS_64:
        turn_back_row(row, n, 64, false);
        break;
    case BASIS_128:
        turn_back_row(row, n, 128, false);
        break;
    case BASIS_POLAR:
        turn_back_row(row, n, 128, true);
        break;
    default:
        break;
    }
}

#endif

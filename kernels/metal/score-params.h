#pragma once
// Parameters of the score kernels.
struct ScoreParams {
    uint n_heads;
    uint n_kv_heads;
    uint n_kv;
    uint head_dim;
    uint row_stride;  // bytes from one position's row to the next
    uint head_stride; // bytes from one KV head's row to the next
    uint flags;
};

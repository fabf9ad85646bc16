#include "attention_entry.cuh"
#include "attention_prefill.cuh"

// Prefill, for rows in any layout: a block for each sequence, KV head and `_rows` rows of queries. No workspace. Head
// sizes to 256; beyond, the constant is 0 and decode works in passes.
ELIZA_ATTENTION_ENTRY(eliza_attention_prefill, prefill_attention, PrefillShape<ELIZA_HEAD_DIM, KeyType, ValueType>)
extern "C" __device__ const uint32_t eliza_attention_prefill_rows =
    eliza_attention_prefill_shape::FITS ? eliza_attention_prefill_shape::ROWS : 0;

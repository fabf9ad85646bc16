#include "attention_decode.cuh"
#include "attention_entry.cuh"

// Decode, for up to four and for up to eight rows of queries a pass, for caches whose rows of a head lie together
// (packed) and for any others. The grid is x alone, of at most as many blocks as the device has multiprocessors; the
// two constants say how large a block is.
ELIZA_ATTENTION_ENTRY(eliza_attention_h4, decode_attention,
                      AttentionShape<ELIZA_HEAD_DIM, KeyType, ValueType, 4, false>)
ELIZA_ATTENTION_ENTRY(eliza_attention_h8, decode_attention,
                      AttentionShape<ELIZA_HEAD_DIM, KeyType, ValueType, 8, false>)
ELIZA_ATTENTION_ENTRY(eliza_attention_h4_packed, decode_attention,
                      AttentionShape<ELIZA_HEAD_DIM, KeyType, ValueType, 4, true>)
ELIZA_ATTENTION_ENTRY(eliza_attention_h8_packed, decode_attention,
                      AttentionShape<ELIZA_HEAD_DIM, KeyType, ValueType, 8, true>)

// Which instruction set the kernels use.
#ifndef ELIZA_KV_ISA_H
#define ELIZA_KV_ISA_H

// In rising order of preference; a processor has those of its own architecture only.
enum eliza_kv_isa_id { ELIZA_KV_SCALAR, ELIZA_KV_AVX2, ELIZA_KV_AVX512, ELIZA_KV_NEON, ELIZA_KV_ISA_COUNT };

enum eliza_kv_isa_id eliza_kv_isa_id(void);

#endif

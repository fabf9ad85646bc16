// Which instruction set the kernels use.
#ifndef ELIZA_KV_ISA_H
#define ELIZA_KV_ISA_H

enum eliza_kv_isa_id { ELIZA_KV_SCALAR = 0, ELIZA_KV_AVX2 = 1 };

enum eliza_kv_isa_id eliza_kv_isa_id(void);

#endif

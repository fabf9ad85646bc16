// GGML_OP_SET_ROWS on the CPU into caches of our types. ggml gives whole rows to threads, so that one thread coded a
// token's K and V while the others waited; here the tiles of all rows are shared out. The bytes are the same.
#ifndef ELIZA_GGML_SET_ROWS_H
#define ELIZA_GGML_SET_ROWS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ggml_compute_params;
struct ggml_tensor;

// False if the node is left to ggml; nothing has been written then.
bool eliza_set_rows_forward(const struct ggml_compute_params *params, struct ggml_tensor *node);

#ifdef __cplusplus
}
#endif

#endif

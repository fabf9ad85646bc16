#include "select/llm-backend.h"

#include "runtimes/llama/factory.h"
#ifdef ELIZA_ENABLE_LITERT
#include "runtimes/litert/factory.h"
#endif
#ifdef ELIZA_ENABLE_MLX
#include "runtimes/mlx/factory.h"
#endif

void llm_backend_register_builtins() {
#ifdef ELIZA_ENABLE_LITERT
    llm_backend_register(eliza::litert_factory());
#endif
#ifdef ELIZA_ENABLE_MLX
    llm_backend_register(eliza::mlx_factory());
#endif
    llm_backend_register(eliza::llama_factory());
}

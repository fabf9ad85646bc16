#include "runtimes/llama/engine-registry.h"

#include "error/failure.h"

namespace eliza {

Engine &EngineRegistry::engine(const std::string &path, int32_t n_gpu_layers) {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<Engine> &engine = engines_[path];
    if (engine == nullptr) {
        try {
            engine = std::make_unique<Engine>(path, n_gpu_layers);
        } catch (...) {
            engines_.erase(path);
            throw;
        }
    } else if (engine->n_gpu_layers() != n_gpu_layers) {
        throw Failure(Code::INVALID_ARGUMENT,
                      path + " is loaded with n_gpu_layers " + std::to_string(engine->n_gpu_layers()) + ", not " +
                          std::to_string(n_gpu_layers),
                      "use the same value, or another context");
    }
    return *engine;
}

} // namespace eliza

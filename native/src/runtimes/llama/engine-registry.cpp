#include "runtimes/llama/engine-registry.h"

#include "error/failure.h"

namespace eliza {

Engine &EngineRegistry::engine(const std::string &path, int32_t n_gpu_layers) {
    const std::lock_guard lock(mutex_);
    if (stopped_) throw Failure(Code::CLOSED, "the library was shut down", "load the model in a new process");
    std::unique_ptr<Engine> &engine = engines_[path];
    if (engine == nullptr) {
        progress_.per_mille = 0;
        try {
            engine = std::make_unique<Engine>(path, n_gpu_layers, &progress_);
        } catch (...) {
            engines_.erase(path);
            if (!stopped_) progress_.cancelled = false;
            throw;
        }
        progress_.per_mille = 1000;
    } else if (engine->n_gpu_layers() != n_gpu_layers) {
        throw Failure(Code::INVALID_ARGUMENT,
                      path + " is loaded with n_gpu_layers " + std::to_string(engine->n_gpu_layers()) + ", not " +
                          std::to_string(n_gpu_layers),
                      "use the same value, or another context");
    }
    progress_.cancelled = false;
    last_ = engine.get();
    return *engine;
}

Engine &EngineRegistry::loaded() const {
    Engine *engine = last_;
    if (engine == nullptr) {
        throw Failure(Code::MODEL_NOT_LOADED, "no model is loaded", "load it, or open a stream, first");
    }
    return *engine;
}

void EngineRegistry::stop() {
    progress_.cancelled = true;
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    for (const auto &[path, engine] : engines_) engine->stop();
}

} // namespace eliza

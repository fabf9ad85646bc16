#include "runtimes/mlx/factory.h"

#include "runtimes/plugin/plugin-factory.h"
#include "runtimes/plugin/bundle-artifacts.h"

namespace eliza {

namespace {

std::string artifact(const std::string &bundle) {
    const std::string weights = mlx_weights(bundle);
    return weights.empty() ? only_artifact(bundle, {".mlpackage", ".mlmodelc"}) : weights;
}

} // namespace

LlmBackendFactory *mlx_factory() {
    static PluginFactory factory({"mlx-coreml", 10, "ELIZA_MLX_PLUGIN", "elizainference-mlx", artifact,
                                  "MLX weights (config.json with *.safetensors), text/*.mlpackage or text/*.mlmodelc, "
                                  "or has several"});
    return &factory;
}

} // namespace eliza

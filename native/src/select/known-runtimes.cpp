#include "select/known-runtimes.h"

#include <array>

#include "select/registry.h"

namespace eliza {

namespace {

struct GatedRuntime {
    const char *name;
    const char *gate;
};
constexpr std::array GATED = {GatedRuntime{"litert-lm", "ELIZA_ENABLE_LITERT"},
                              GatedRuntime{"mlx-coreml", "ELIZA_ENABLE_MLX"}};

} // namespace

std::string why_not_here(const std::string &name) {
    for (const GatedRuntime &runtime : GATED) {
        if (lower_case(name) == runtime.name) {
            return std::string("this library was built without ") + runtime.gate;
        }
    }
    return "no runtime of that name is known";
}

} // namespace eliza

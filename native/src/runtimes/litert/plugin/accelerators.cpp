#include "runtimes/litert/plugin/accelerators.h"

#include <algorithm>

namespace eliza::litert {

namespace {

namespace fs = std::filesystem;

constexpr int GPU = 2, NPU = 3;

// Names of libraries and device files as vendors and Android's kernels publish them; none of these ran here.
struct Accelerator {
    const char *name;
    const char *backend;
    int kind;
    std::vector<const char *> libraries; // any of them
    std::vector<const char *> devices;   // any of them
};

const std::vector<Accelerator> &accelerators() {
    static const std::vector<Accelerator> all = {
        {"NPU (Google Tensor)",
         "npu",
         NPU,
         {"libLiteRtDispatch_GoogleTensor.so"},
         {"dev/edgetpu-soc", "dev/edgetpu", "dev/edgetpu0"}},
        {"NPU (Qualcomm QNN)",
         "npu",
         NPU,
         {"libLiteRtDispatch_Qualcomm.so"},
         {"dev/fastrpc-cdsp", "dev/adsprpc-smd", "dev/adsprpc-smd-secure"}},
        {"NPU (MediaTek NeuroPilot)", "npu", NPU, {"libLiteRtDispatch_MediaTek.so"}, {"dev/apusys"}},
        {"GPU",
         "gpu",
         GPU,
         {"libLiteRtGpuAccelerator.so", "libLiteRtOpenClAccelerator.so", "libLiteRtWebGpuAccelerator.so"},
         {"dev/kgsl-3d0", "dev/mali0", "dev/dri/renderD128"}},
    };
    return all;
}

std::string any_of(const std::vector<const char *> &names) {
    std::string words;
    for (const char *name : names) words += (words.empty() ? "" : " or ") + std::string(name);
    return words;
}

bool one_lies_in(const fs::path &folder, const std::vector<const char *> &names) {
    std::error_code code;
    return std::ranges::any_of(names, [&](const char *name) { return fs::exists(folder / name, code); });
}

std::string why_not(const Accelerator &accelerator, const std::vector<int> &model_backends, int n_gpu_layers,
                    const LadderPlaces &places) {
    if (n_gpu_layers == 0) return "none was asked for (n_gpu_layers is 0)";
    if (std::ranges::count(model_backends, accelerator.kind) == 0) return "the model has no part for it";
    if (!one_lies_in(places.libraries, accelerator.libraries)) {
        return "no " + any_of(accelerator.libraries) + " in " + places.libraries.string();
    }
    if (!one_lies_in(places.root, accelerator.devices)) {
        return "no device " + any_of(accelerator.devices) + " in " + places.root.string();
    }
    return "";
}

} // namespace

std::vector<Rung> accelerator_ladder(const std::vector<int> &model_backends, int n_gpu_layers,
                                     const LadderPlaces &places) {
    std::vector<Rung> rungs;
    for (const Accelerator &accelerator : accelerators()) {
        rungs.push_back(
            {accelerator.name, accelerator.backend, why_not(accelerator, model_backends, n_gpu_layers, places)});
    }
    rungs.push_back({"CPU", "cpu", ""});
    return rungs;
}

} // namespace eliza::litert

#include "runtimes/litert/plugin/accelerators.h"

#include <algorithm>
#include <fstream>
#include <unistd.h>

#include "check.h"

namespace {

namespace fs = std::filesystem;
using eliza::litert::accelerator_ladder;
using eliza::litert::Rung;

// A machine of files, removed at the end.
struct Machine {
    Machine() : root(fs::temp_directory_path() / ("eliza-machine-" + std::to_string(getpid()))) {}
    ~Machine() { fs::remove_all(root); }
    void add(const char *path) const {
        fs::create_directories((root / path).parent_path());
        std::ofstream(root / path) << "";
    }
    std::vector<Rung> ladder(const std::vector<int> &model, int n_gpu_layers = -1) const {
        return accelerator_ladder(model, n_gpu_layers, {root / "lib", root});
    }
    const fs::path root;
};

std::string refusal(const std::vector<Rung> &rungs, const std::string &name) {
    const auto found = std::ranges::find(rungs, name, &Rung::name);
    return found == rungs.end() ? "not on the ladder" : found->refused;
}

bool says(const std::string &text, const char *words) { return text.find(words) != std::string::npos; }

constexpr const char *TENSOR = "NPU (Google Tensor)", *QNN = "NPU (Qualcomm QNN)";

} // namespace

TEST("an accelerator counts only with the model's part, its library and its device") {
    const Machine machine;
    EXPECT(says(refusal(machine.ladder({1, 2, 3}), QNN), "no libLiteRtDispatch_Qualcomm.so"));
    machine.add("lib/libLiteRtDispatch_Qualcomm.so");
    EXPECT(says(refusal(machine.ladder({1, 2, 3}), QNN), "no device dev/fastrpc-cdsp"));
    machine.add("dev/fastrpc-cdsp");
    EXPECT(refusal(machine.ladder({1, 2, 3}), QNN).empty());
    EXPECT(says(refusal(machine.ladder({1, 2}), QNN), "the model has no part for it"));
    EXPECT(says(refusal(machine.ladder({1, 2, 3}), TENSOR), "GoogleTensor"));
    EXPECT(says(refusal(machine.ladder({1, 2, 3}), "GPU"), "no libLiteRtGpuAccelerator.so"));
}

TEST("NPUs come before GPUs, the CPU last and always; none where none is asked for") {
    const Machine machine;
    const std::vector<Rung> rungs = machine.ladder({1, 2, 3}, 0);
    EXPECT(rungs.size() == 5 && rungs[0].backend == "npu" && rungs[3].backend == "gpu");
    EXPECT(rungs.back().backend == "cpu" && rungs.back().refused.empty());
    for (size_t i = 0; i + 1 < rungs.size(); ++i) EXPECT(says(rungs[i].refused, "n_gpu_layers is 0"));
}

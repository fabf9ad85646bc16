#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace eliza::litert {

// One step of the ladder from NPUs over GPUs to the CPU.
struct Rung {
    std::string name;    // as the report has it
    std::string backend; // as the library has it
    // Why it is not tried, empty if it is; later why it did not start.
    std::string refused;
};

// What the ladder is looked for in.
struct LadderPlaces {
    std::filesystem::path libraries;  // folder of the libraries that reach accelerators
    std::filesystem::path root = "/"; // where dev lies
};

// The rungs in the order in which they are tried, the CPU last and never refused. The library accepts an NPU that is not
// there and computes on the CPU, so an accelerator is tried only where the model has a part for it, its library lies in the
// folder and its device is there. `model_backends`: what the file says that it serves (1 CPU, 2 GPU, 3 NPU); n_gpu_layers 0
// asks for none.
std::vector<Rung> accelerator_ladder(const std::vector<int> &model_backends, int n_gpu_layers,
                                     const LadderPlaces &places);

} // namespace eliza::litert

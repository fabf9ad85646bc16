import type { TargetClaim } from "./contract-file.ts";

/** Every build target, and what must still be shown of its kernels. The contract has a row for each. */
export const TARGETS: readonly TargetClaim[] = [
  { id: "linux-x64-cpu", backend: "cpu", needs: "CPU kernels of the formats that have none" },
  { id: "linux-x64-vulkan", backend: "vulkan", needs: "the kernels in the model's graph" },
  { id: "linux-x64-cuda", backend: "cuda", needs: "the kernels in the model's graph" },
  { id: "linux-arm64-cpu", backend: "cpu", needs: "a run on an arm64 machine" },
  { id: "linux-arm64-cuda", backend: "cuda", needs: "a run on an arm64 machine with an NVIDIA GPU" },
  { id: "android-arm64-cpu", backend: "cpu", needs: "a run on a phone" },
  { id: "android-arm64-vulkan", backend: "vulkan", needs: "a run on Adreno and on Mali" },
  { id: "darwin-arm64-cpu", backend: "cpu", needs: "a run on a Mac" },
  {
    id: "darwin-arm64-metal",
    backend: "metal",
    needs: "a run on a Mac: eliza-inference verify --device metal",
  },
  { id: "ios-arm64-metal", backend: "metal", needs: "a run on a Mac, then on a phone" },
  { id: "ios-arm64-simulator-metal", backend: "metal", needs: "a run on a Mac, then in the simulator" },
  { id: "windows-x64-cpu", backend: "cpu", needs: "a run on Windows" },
  { id: "windows-x64-vulkan", backend: "vulkan", needs: "a run on Windows" },
  { id: "windows-x64-cuda", backend: "cuda", needs: "a run on Windows with an NVIDIA GPU" },
  { id: "windows-arm64-cpu", backend: "cpu", needs: "a run on Windows for arm64" },
  { id: "windows-arm64-vulkan", backend: "vulkan", needs: "a run on Windows for arm64" },
];

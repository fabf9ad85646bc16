import type { Target } from "./target.ts";

const NO_CROSS_BUILD = "no cross build is set up";
const NO_GPU_BACKEND = "the engine computes on the CPU alone";
const NO_APPLE_SDK = "needs Apple's SDK, which only a Mac has";

type Row = Omit<Target, "package">;

const ROWS: readonly Row[] = [
  {
    ...{ id: "linux-x64-cpu", platform: "linux", cpu: "x64", libc: "glibc", variant: "cpu" },
    ...{ toolchain: "host", runner: "directly" },
    shown: "ran on AMD EPYC, the whole suite",
    needs: "a build for other machines than the one that builds",
  },
  {
    ...{ id: "linux-x64-vulkan", platform: "linux", cpu: "x64", libc: "glibc", variant: "vulkan" },
    shown: "kernels alone ran on NVIDIA H200",
    refused: NO_GPU_BACKEND,
    needs: "the kernels in the model's graph",
  },
  {
    ...{ id: "linux-x64-cuda", platform: "linux", cpu: "x64", libc: "glibc", variant: "cuda" },
    shown: "kernels alone ran on NVIDIA H200",
    refused: NO_GPU_BACKEND,
    needs: "the kernels in the model's graph",
  },
  {
    ...{ id: "linux-x64-musl-cpu", platform: "linux", cpu: "x64", libc: "musl", variant: "cpu" },
    ...{ toolchain: "host", runner: "a musl root" },
    needs: "a run on a musl system",
  },
  {
    ...{ id: "linux-arm64-cpu", platform: "linux", cpu: "arm64", libc: "glibc", variant: "cpu" },
    ...{ toolchain: "host", runner: "qemu-user" },
    shown: "kernels alone, emulated by qemu-user (npm run test:arm64)",
    needs: "a run on an arm64 machine",
  },
  {
    ...{ id: "linux-arm64-vulkan", platform: "linux", cpu: "arm64", libc: "glibc", variant: "vulkan" },
    refused: NO_GPU_BACKEND,
    needs: "the kernels in the model's graph, and a run on an arm64 machine with a GPU",
  },
  {
    ...{ id: "linux-arm64-cuda", platform: "linux", cpu: "arm64", libc: "glibc", variant: "cuda" },
    refused: NO_GPU_BACKEND,
    needs: "a run on an arm64 machine with an NVIDIA GPU",
  },
  {
    ...{ id: "linux-arm64-musl-cpu", platform: "linux", cpu: "arm64", libc: "musl", variant: "cpu" },
    ...{ toolchain: "host", runner: "qemu-user" },
    needs: "a run on a musl system of arm64",
  },
  {
    ...{ id: "linux-riscv64-cpu", platform: "linux", cpu: "riscv64", libc: "glibc", variant: "cpu" },
    ...{ toolchain: "host", runner: "qemu-user" },
    needs: "a run on a riscv64 machine",
  },
  {
    ...{ id: "android-arm64-cpu", platform: "android", cpu: "arm64", variant: "cpu" },
    refused: `${NO_CROSS_BUILD}: needs Android's NDK`,
    needs: "a run on a phone",
  },
  {
    ...{ id: "android-arm64-vulkan", platform: "android", cpu: "arm64", variant: "vulkan" },
    refused: NO_GPU_BACKEND,
    needs: "a run on Adreno and on Mali",
  },
  {
    ...{ id: "android-x64-cpu", platform: "android", cpu: "x64", variant: "cpu" },
    refused: `${NO_CROSS_BUILD}: needs Android's NDK`,
    needs: "a run in Android's emulator",
  },
  {
    ...{ id: "android-x64-vulkan", platform: "android", cpu: "x64", variant: "vulkan" },
    refused: NO_GPU_BACKEND,
    needs: "a run in Android's emulator",
  },
  {
    ...{ id: "darwin-arm64-cpu", platform: "darwin", cpu: "arm64", variant: "cpu" },
    toolchain: "host",
    needs: "a run on a Mac",
  },
  {
    ...{ id: "darwin-arm64-metal", platform: "darwin", cpu: "arm64", variant: "metal" },
    shown: "kernels alone, emulated",
    refused: NO_GPU_BACKEND,
    needs: "a run on a Mac: eliza-inference verify --device metal",
  },
  {
    ...{ id: "darwin-x64-cpu", platform: "darwin", cpu: "x64", variant: "cpu" },
    toolchain: "host",
    needs: "a run on a Mac of x64",
  },
  {
    ...{ id: "darwin-x64-metal", platform: "darwin", cpu: "x64", variant: "metal" },
    refused: NO_GPU_BACKEND,
    needs: "a run on a Mac of x64",
  },
  {
    ...{ id: "ios-arm64-metal", platform: "ios", cpu: "arm64", variant: "metal" },
    refused: `${NO_GPU_BACKEND}; ${NO_APPLE_SDK}`,
    needs: "a run on a Mac, then on a phone",
  },
  {
    ...{ id: "ios-arm64-simulator-metal", platform: "ios", cpu: "arm64", variant: "metal" },
    refused: `${NO_GPU_BACKEND}; ${NO_APPLE_SDK}`,
    needs: "a run on a Mac, then in the simulator",
  },
  {
    ...{ id: "windows-x64-cpu", platform: "win32", cpu: "x64", variant: "cpu" },
    runner: "wine",
    refused: `${NO_CROSS_BUILD}: needs mingw-w64 or zig; the host build does not know MSVC's flags`,
    needs: "a run on Windows",
  },
  {
    ...{ id: "windows-x64-vulkan", platform: "win32", cpu: "x64", variant: "vulkan" },
    refused: NO_GPU_BACKEND,
    needs: "a run on Windows",
  },
  {
    ...{ id: "windows-x64-cuda", platform: "win32", cpu: "x64", variant: "cuda" },
    refused: NO_GPU_BACKEND,
    needs: "a run on Windows with an NVIDIA GPU",
  },
  {
    ...{ id: "windows-arm64-cpu", platform: "win32", cpu: "arm64", variant: "cpu" },
    refused: `${NO_CROSS_BUILD}: needs a mingw-w64 of arm64 or zig`,
    needs: "a run on Windows for arm64",
  },
  {
    ...{ id: "windows-arm64-vulkan", platform: "win32", cpu: "arm64", variant: "vulkan" },
    refused: NO_GPU_BACKEND,
    needs: "a run on Windows for arm64",
  },
];

/** Every target, buildable or not. The contract has a row for each; a build or a package is looked up here. */
export const TARGETS: readonly Target[] = ROWS.map((row) => ({
  ...row,
  package: `@eliza-inference/${row.id.replace(/-(cpu|metal)$/, "")}`,
}));

/** What a library computes on. Every one can compute on the processor too. */
export type TargetVariant = "cpu" | "vulkan" | "cuda" | "metal";

export type TargetToolchain =
  /** the compilers of a machine of this very kind: `npm run build:native` */
  "host";

/** How a built target runs on a Linux x64 machine. */
export type TargetRunner = "directly" | "qemu-user" | "wine" | "a musl root";

export interface Target {
  /** `<os>-<cpu>[-musl|-simulator]-<variant>`; unique. */
  readonly id: string;
  /** As Node's `process.platform` spells it. */
  readonly platform: "linux" | "android" | "darwin" | "ios" | "win32";
  /** As Node's `process.arch` spells it. */
  readonly cpu: "x64" | "arm64" | "riscv64";
  /** On Linux alone. */
  readonly libc?: "glibc" | "musl";
  readonly variant: TargetVariant;
  /** The npm package that carries the library. */
  readonly package: string;
  /** What makes the library; absent where `refused` says why nothing does. */
  readonly toolchain?: TargetToolchain;
  /** What runs the library here; absent where nothing does. */
  readonly runner?: TargetRunner;
  /** What was really seen, in the words authored, compiles, emulated, ran. Absent: nothing. */
  readonly shown?: string;
  /** Why the target is not built, and what is missing. */
  readonly refused?: string;
  /** What is still to be shown before the target may be called supported. */
  readonly needs: string;
}
